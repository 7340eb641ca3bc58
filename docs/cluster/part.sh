#!/bin/bash
# Slurm: an array of parts, and a job that merges them if all went well.
#   mkdir -p parts && job=$(sbatch --parsable part.sh)
#   sbatch --dependency=afterok:$job --wrap "python run_judge.py job merge parts --out-dir out --name big --compress"
#SBATCH --job-name=judge --array=1-20 --cpus-per-task=1 --mem=1G --time=02:00:00 --requeue
#SBATCH --output=parts/%x-%a.out
cd "$SLURM_SUBMIT_DIR"
python run_judge.py judge runs/ --shard "$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT" \
  --judge support --rag-topics topics.jsonl --documents documents.jsonl \
  --compress --log lean --out-dir parts --name big -q
status=$?
[ $status -eq 3 ] && exit 0 || exit $status  # 3: whole, but something is unjudged, such as a broken line
