//! The a-tree crate on a workload that benchmarks/peers/a_tree/compare.py wrote.
//!
//!     a-tree-peer FOLDER BUILD_LIMIT EVENT_LIMIT
//!
//! FOLDER holds fields.txt (kind, name), rules.txt (one expression a line) and events.txt (one event
//! a line: name, value, name, value, ...; the elements of a list are separated by commas), all
//! separated by tabs. The limits are seconds: when one is over, what was done so far is reported.
//!
//! The result is one line on standard output: expressions inserted, seconds of the build, then for
//! each event its matches and its seconds. Seconds are processor time.

use a_tree::{ATree, AttributeDefinition, Event};
use cpu_time::ProcessTime;
use std::collections::HashMap;
use std::fs::read_to_string;
use std::path::Path;
use std::time::Duration;

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, folder, build_limit, event_limit] = arguments.as_slice() else {
        return Err("usage: a-tree-peer FOLDER BUILD_LIMIT EVENT_LIMIT".into());
    };
    let folder = Path::new(folder);
    let build_limit = Duration::from_secs_f64(build_limit.parse()?);
    let event_limit = Duration::from_secs_f64(event_limit.parse()?);

    let kinds = read_kinds(&read_to_string(folder.join("fields.txt"))?)?;
    let definitions: Vec<AttributeDefinition> =
        kinds.iter().map(|(name, kind)| definition(name, kind)).collect::<Result<_, _>>()?;
    let mut tree = ATree::<u64>::new(&definitions).map_err(|error| error.to_string())?;

    let rules = read_to_string(folder.join("rules.txt"))?;
    let start = ProcessTime::now();
    let mut inserted = 0u64;
    for expression in rules.lines() {
        tree.insert(&inserted, expression).map_err(|error| format!("{expression}: {error}"))?;
        inserted += 1;
        if inserted % 10_000 == 0 {
            eprintln!("  {inserted} expressions inserted in {:.0?}", start.elapsed());
        }
        if inserted % 100 == 0 && start.elapsed() > build_limit {
            break;
        }
    }
    print!("{inserted} {}", start.elapsed().as_secs_f64());

    let begin = ProcessTime::now();
    for line in read_to_string(folder.join("events.txt"))?.lines() {
        let event = read_event(&tree, &kinds, line)?;
        let start = ProcessTime::now();
        let count = tree.search(&event).map_err(|error| error.to_string())?.matches().len();
        print!(" {count} {}", start.elapsed().as_secs_f64());
        if begin.elapsed() > event_limit {
            break;
        }
    }
    println!();
    Ok(())
}

fn read_kinds(text: &str) -> Result<HashMap<String, String>, Failure> {
    text.lines()
        .map(|line| {
            let (kind, name) = line.split_once('\t').ok_or("a field without a kind")?;
            Ok((name.to_string(), kind.to_string()))
        })
        .collect()
}

fn definition(name: &str, kind: &str) -> Result<AttributeDefinition, Failure> {
    match kind {
        "integer" => Ok(AttributeDefinition::integer(name)),
        "string" => Ok(AttributeDefinition::string(name)),
        "boolean" => Ok(AttributeDefinition::boolean(name)),
        "list" => Ok(AttributeDefinition::integer_list(name)),
        _ => Err(format!("no such kind: {kind}").into()),
    }
}

fn read_event(tree: &ATree<u64>, kinds: &HashMap<String, String>, line: &str) -> Result<Event, Failure> {
    let mut builder = tree.make_event();
    let parts: Vec<&str> = line.split('\t').collect();
    for pair in parts.chunks_exact(2) {
        let (name, value) = (pair[0], pair[1]);
        match kinds.get(name).map(String::as_str) {
            Some("integer") => builder.with_integer(name, value.parse()?)?,
            Some("string") => builder.with_string(name, value)?,
            Some("boolean") => builder.with_boolean(name, value.parse()?)?,
            Some("list") => {
                let elements: Vec<i64> = value.split(',').map(str::parse).collect::<Result<_, _>>()?;
                builder.with_integer_list(name, &elements)?
            }
            _ => return Err(format!("no such field: {name}").into()),
        }
    }
    Ok(builder.build()?)
}
