"""The commands of ``mbauc``, one file each: what they take, and what they do with it.

These files import nothing heavy at the top: ``mbauc --help`` must not wait for numpy.
"""

#: Each command: where it is, and what it is for.
COMMANDS = {
    "fit": ("mbauc.cli.fit", "train a ranker on a table, a click log or a stream, and test it"),
    "score": ("mbauc.cli.score", "score the rows of files with a model"),
    "report": ("mbauc.cli.report", "the page for scores of any model: LightGBM, a rule, a CSV"),
    "evaluate": ("mbauc.cli.evaluate", "AUC with its interval, and a report to show to others"),
    "explain": ("mbauc.cli.explain", "why rows have their scores: what adds most"),
    "compare": ("mbauc.cli.compare", "compare models on the same rows (paired DeLong test)"),
    "threshold": ("mbauc.cli.threshold", "a cut by a false-alarm promise, alarms or costs"),
    "calibrate": ("mbauc.cli.calibrate", "probabilities that fit new rows"),
    "inspect": ("mbauc.cli.inspect", "what is in a model: weights, penalties, training data"),
    "update": ("mbauc.cli.update", "continue training a model with new rows"),
    "merge": ("mbauc.cli.merge", "join models that were trained on different machines"),
    "export": ("mbauc.cli.export", "write a model for scikit-learn or ONNX"),
    "plan": ("mbauc.paper.commands.plan", "how many pairs a sample would need (Theorem 4)"),
    "demo": ("mbauc.cli.demo", "fit and evaluate a ranker on data made up on the spot"),
    "reproduce": ("mbauc.paper.commands.reproduce", "run an experiment of the MBA paper"),
    "data": ("mbauc.paper.commands.data", "list, check and download the paper's data sets; make click logs"),
    "completion": ("mbauc.cli.completion", "completion of commands and options for your shell"),
}
