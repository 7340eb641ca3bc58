#!/bin/sh
# GNU parallel, on machines that you reach by SSH and that see this folder by the same path.
seq 20 | parallel --sshlogin 8/node1,8/node2 --workdir . --retries 3 \
  'python run_judge.py judge runs/ --shard {}/20 --judge support --rag-topics topics.jsonl \
   --documents documents.jsonl --out-dir parts --name big -q || [ $? -eq 3 ]'
python run_judge.py job merge parts --out-dir out --name big
