"""Rules over several relations: programs in a subset of Soufflé's Datalog, run once, live, or on Spark.

language/ reads a program and finds all of its errors; machine/ turns it into the activation index (Yield),
whose loops are kernels/; engine/ is what users hold: facts come and go, and each change says what follows.
spark/ has batch/ (ts.evaluate) and stream/ (ts.activate). meaning.py is the slow, obvious evaluator that all
are held to.

Promised: set semantics, whatever the order; after any changes the contents equal a batch evaluation of the
facts.

Begin with engine/program.py and engine/engine.py, then machine/normal_form.py and machine/machine.py.
"""
