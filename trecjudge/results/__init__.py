"""What lies on disk after a job: judgments, qrels, leaderboards, log, statistics."""
