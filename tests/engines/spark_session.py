"""A Spark session whose executors are processes of their own, and ways to disturb them."""

import os
import re
import shutil
import subprocess
import sys
import warnings
from contextlib import contextmanager
from pathlib import Path

import pytest

#: What the driver accepts from a job: little, so that the limit is met by results of a few megabytes.
MAX_RESULT = "48m"


def why_not():
    """Why no session can be started here; empty if it can."""
    java = Path(os.environ["JAVA_HOME"], "bin", "java") if "JAVA_HOME" in os.environ else "java"
    if shutil.which(str(java)) is None:
        return "Spark needs Java 17, and there is none"
    said = subprocess.run([str(java), "-version"], capture_output=True, text=True, check=False).stderr
    version = re.search(r'version "(\d+)', said)
    if version is None or int(version[1]) < 17:
        return f"Spark needs Java 17, and there is {said.splitlines()[0] if said else 'another'}"
    return ""


@contextmanager
def session(folder):
    """Two executors of one core each, as separate processes on this machine.

    Parameters
    ----------
    folder : Path
        For what Spark writes.
    """
    import pyspark
    from pyspark.sql import SparkSession

    # these machines live for minutes: what they compile with care would not pay
    brief = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
    brief += " -XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
    settings = {
        "spark.driver.extraJavaOptions": brief,
        "spark.executor.extraJavaOptions": brief,
        "spark.sql.codegen.wholeStage": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.maxResultSize": MAX_RESULT,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.locality.wait": "0s",  # both executors are on this machine
        "spark.task.maxFailures": "2",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.local.dir": str(folder / "local"),
    }
    builder = SparkSession.builder.master("local-cluster[2,1,1024]").appName("mbauc tests")
    for name, value in settings.items():
        builder = builder.config(name, value)
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # of pyspark, about new versions of pandas
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv("PYSPARK_DRIVER_PYTHON", sys.executable)
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        spark = builder.getOrCreate()
        spark.sparkContext.setLogLevel("OFF")
        number = spark.sparkContext.applicationId
        try:
            yield spark
        finally:
            spark.stop()
            shutil.rmtree(Path(pyspark.__file__).parent / "work" / number, ignore_errors=True)


def killer(mark):
    """A function for executors: the first call kills the executor that it runs in, with ``kill -9``.

    Parameters
    ----------
    mark : Path
        Where it is written down which process was killed.
    """

    def kill_once():
        # all within, because executors do not know this file
        import os
        import signal
        import time
        from pathlib import Path

        # a Python worker is forked by a daemon, which the executor has started
        daemon = Path(f"/proc/{os.getppid()}/stat").read_text()
        executor = int(daemon.rsplit(")", 1)[1].split()[1])
        try:
            with mark.open("x") as file:
                command = Path(f"/proc/{executor}/cmdline").read_text().replace("\0", " ")
                file.write(f"{executor} {command}")
        except FileExistsError:
            return
        os.kill(executor, signal.SIGKILL)
        time.sleep(60)

    return kill_once


def was_killed(mark):
    """Whether an executor was killed and is gone."""
    number, command = mark.read_text().split(" ", 1)
    return "CoarseGrainedExecutorBackend" in command and not Path("/proc", number).exists()
