"""The commands of ``mbauc``, one file each: what they take, and what they do with it.

These files import nothing heavy at the top: ``mbauc --help`` must not wait for numpy.
"""

#: Each command: where it is, and what it is for.
COMMANDS = {
    "fit": ("mbauc.cli.fit", "train a ranker on a table or a click log, and test it"),
    "score": ("mbauc.cli.score", "score the rows of files with a model"),
    "report": ("mbauc.cli.report", "evaluate the scores of any model, and write an HTML report"),
    "evaluate": ("mbauc.cli.evaluate", "evaluate a model on new rows: AUC with its interval, report"),
    "explain": ("mbauc.cli.explain", "explain the scores of single rows"),
    "compare": ("mbauc.cli.compare", "test whether models differ on the same rows (DeLong)"),
    "threshold": ("mbauc.cli.threshold", "set a threshold by false alarms, number of alarms or costs"),
    "calibrate": ("mbauc.cli.calibrate", "calibrate probabilities on new rows"),
    "inspect": ("mbauc.cli.inspect", "show what is in a model: weights, curves, training data"),
    "update": ("mbauc.cli.update", "train a model further with new rows"),
    "merge": ("mbauc.cli.merge", "merge models that were trained on different machines"),
    "export": ("mbauc.cli.export", "export a model to ONNX or scikit-learn"),
    "plan": ("mbauc.paper.commands.plan", "compute how many pairs a sample needs (Theorem 4)"),
    "demo": ("mbauc.cli.demo", "train, test and explain a ranker on made-up payments"),
    "reproduce": ("mbauc.paper.commands.reproduce", "run an experiment of the MBA paper"),
    "data": ("mbauc.paper.commands.data", "list, check and download the paper's data sets; make click logs"),
    "completion": ("mbauc.cli.completion", "print completion of commands for your shell"),
}
