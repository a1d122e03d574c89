"""The MBA paper's world: data sets, click logs, rivals, detection, theory, studies. Nothing else imports it."""
