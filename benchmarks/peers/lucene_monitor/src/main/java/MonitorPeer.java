import com.sun.management.OperatingSystemMXBean;
import java.io.BufferedWriter;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.lucene.analysis.core.WhitespaceAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.TextField;
import org.apache.lucene.index.Term;
import org.apache.lucene.monitor.Monitor;
import org.apache.lucene.monitor.MonitorQuery;
import org.apache.lucene.monitor.MultiMatchingQueries;
import org.apache.lucene.monitor.MultipassTermFilteredPresearcher;
import org.apache.lucene.monitor.Presearcher;
import org.apache.lucene.monitor.QueryMatch;
import org.apache.lucene.monitor.TermFilteredPresearcher;
import org.apache.lucene.monitor.TermWeightor;
import org.apache.lucene.search.BooleanClause.Occur;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.PhraseQuery;
import org.apache.lucene.search.PrefixQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.TermQuery;

/**
 * Matches the documents of a folder against its queries and tells the processor time of all threads.
 *
 * <pre>
 * documents.txt   one document a line
 * queries.txt     one query a line, in postfix order, steps parted by tabs: w:WORD, x:PREFIX, p:SOME WORDS,
 *                 each after ! when negated; &amp;2 and |3 take so many operands
 * matches.txt     written: for each document the numbers of its queries
 * </pre>
 *
 * Arguments: the folder, seconds to warm up, seconds to measure. Several set-ups of the monitor are tried
 * for a moment, and the fastest is measured. Printed as name=value: the set-up, passes over the documents,
 * seconds of processor time for these, seconds to register the queries.
 */
public final class MonitorPeer {
  private static final String FIELD = "text";
  private static final int[] BATCHES = {1, 1000};
  private static final int TRIAL_DOCUMENTS = 1000;
  private static final double TRIAL_SECONDS = 2;

  private final List<String> documents;
  private final List<String> queries;

  private MonitorPeer(Path folder) throws IOException {
    documents = Files.readAllLines(folder.resolve("documents.txt"));
    queries = Files.readAllLines(folder.resolve("queries.txt"));
  }

  public static void main(String[] arguments) throws IOException {
    Path folder = Path.of(arguments[0]);
    double warmUp = Double.parseDouble(arguments[1]);
    double measured = Double.parseDouble(arguments[2]);
    MonitorPeer peer = new MonitorPeer(folder);

    String bestName = null;
    Presearcher bestPresearcher = null;
    int bestBatch = 0;
    double best = Double.MAX_VALUE;
    for (Map.Entry<String, Presearcher> presearcher : peer.presearchers().entrySet()) {
      try (Monitor monitor = peer.monitor(presearcher.getValue())) {
        int some = Math.min(TRIAL_DOCUMENTS, peer.documents.size());
        for (int batch : BATCHES) {
          peer.repeat(monitor, some, batch, TRIAL_SECONDS);
          double seconds = peer.repeat(monitor, some, batch, TRIAL_SECONDS).secondsOfOne();
          if (seconds < best) {
            best = seconds;
            bestName = presearcher.getKey();
            bestPresearcher = presearcher.getValue();
            bestBatch = batch;
          }
        }
      }
    }

    double start = processorSeconds();
    try (Monitor monitor = peer.monitor(bestPresearcher)) {
      double register = processorSeconds() - start;
      peer.writeMatches(monitor, folder.resolve("matches.txt"));
      int all = peer.documents.size();
      peer.repeat(monitor, all, bestBatch, warmUp);
      Repeated repeated = peer.repeat(monitor, all, bestBatch, measured);
      System.out.println("presearcher=" + bestName);
      System.out.println("batch=" + bestBatch);
      System.out.println("register=" + register);
      System.out.println("passes=" + repeated.passes);
      System.out.println("seconds=" + repeated.seconds);
    }
  }

  private record Repeated(int passes, double seconds) {
    double secondsOfOne() {
      return seconds / passes;
    }
  }

  /** Ways to find the queries that may match; the frequencies are those of the documents. */
  private Map<String, Presearcher> presearchers() {
    Map<String, Integer> frequencies = new HashMap<>();
    for (String document : documents) {
      for (String word : document.split(" ")) {
        frequencies.merge(word, 1, Integer::sum);
      }
    }
    TermWeightor byFrequency = TermWeightor.termFreqWeightor(frequencies, 100, 1);
    Map<String, Presearcher> all = new HashMap<>();
    all.put("default", new TermFilteredPresearcher());
    all.put("by frequency", new TermFilteredPresearcher(byFrequency, List.of(), Set.of()));
    all.put("two passes by frequency",
        new MultipassTermFilteredPresearcher(2, 0f, byFrequency, List.of(), Set.of()));
    return all;
  }

  private Monitor monitor(Presearcher presearcher) throws IOException {
    Monitor monitor = new Monitor(new WhitespaceAnalyzer(), presearcher);
    List<MonitorQuery> registered = new ArrayList<>();
    for (int number = 0; number < queries.size(); number++) {
      registered.add(new MonitorQuery(Integer.toString(number), query(queries.get(number))));
    }
    monitor.register(registered);
    return monitor;
  }

  private static Query query(String line) {
    Deque<Query> waiting = new ArrayDeque<>();
    Deque<Boolean> negated = new ArrayDeque<>();
    for (String step : line.split("\t")) {
      char first = step.charAt(0);
      if (first == '&' || first == '|') {
        int arity = Integer.parseInt(step.substring(1));
        BooleanQuery.Builder group = new BooleanQuery.Builder();
        for (int operand = 0; operand < arity; operand++) {
          Occur plain = first == '&' ? Occur.MUST : Occur.SHOULD;
          group.add(waiting.pop(), negated.pop() ? Occur.MUST_NOT : plain);
        }
        waiting.push(group.build());
        negated.push(false);
      } else {
        waiting.push(leaf(first == '!' ? step.substring(1) : step));
        negated.push(first == '!');
      }
    }
    return waiting.pop();
  }

  private static Query leaf(String step) {
    String text = step.substring(2);
    return switch (step.charAt(0)) {
      case 'w' -> new TermQuery(new Term(FIELD, text));
      case 'x' -> new PrefixQuery(new Term(FIELD, text));
      default -> new PhraseQuery(FIELD, text.split(" "));
    };
  }

  /** Match the first so many documents again and again for so many seconds. */
  private Repeated repeat(Monitor monitor, int count, int batch, double seconds) throws IOException {
    double start = processorSeconds();
    int passes = 0;
    do {
      for (int first = 0; first < count; first += batch) {
        match(monitor, first, Math.min(first + batch, count));
      }
      passes++;
    } while (processorSeconds() - start < seconds);
    return new Repeated(passes, processorSeconds() - start);
  }

  private MultiMatchingQueries<QueryMatch> match(Monitor monitor, int first, int last) throws IOException {
    Document[] batch = new Document[last - first];
    for (int number = first; number < last; number++) {
      batch[number - first] = new Document();
      batch[number - first].add(new TextField(FIELD, documents.get(number), Field.Store.NO));
    }
    return monitor.match(batch, QueryMatch.SIMPLE_MATCHER);
  }

  private void writeMatches(Monitor monitor, Path path) throws IOException {
    try (BufferedWriter out = Files.newBufferedWriter(path)) {
      for (int number = 0; number < documents.size(); number++) {
        List<String> found = new ArrayList<>();
        for (QueryMatch match : match(monitor, number, number + 1).getMatches(0)) {
          found.add(match.getQueryId());
        }
        out.write(String.join(" ", found) + "\n");
      }
    }
  }

  private static double processorSeconds() {
    return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime() / 1e9;
  }
}
