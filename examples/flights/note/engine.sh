#!/bin/sh
set -e
cat > /dev/null
if [ "$CABINCREW_MODE" = flight-plan ]; then
  mkdir -p "$CABINCREW_ARTIFACTS_DIR/note"
  printf 'hello\n' > "$CABINCREW_ARTIFACTS_DIR/note/body.data"
  printf '{"artifact_type":"file","action":"create","target":"note.txt","mime":"text/plain","body_file":"body.data"}' > "$CABINCREW_ARTIFACTS_DIR/note/artifact.json"
  h=$(sha256sum "$CABINCREW_ARTIFACTS_DIR/note/body.data" | cut -d' ' -f1)
  printf '{"protocol_version":"1.0","engine_id":"note","mode":"flight-plan","receipt_id":"r1","status":"success","artifacts":[{"name":"note","role":"state","path":"note","hash":"%s","size":6}]}' "$h"
else
  cat "$CABINCREW_ARTIFACTS_DIR/note/body.data" >> "$CABINCREW_WORKSPACE/note.txt"
  printf '{"protocol_version":"1.0","engine_id":"note","mode":"take-off","receipt_id":"r2","status":"success"}'
fi
