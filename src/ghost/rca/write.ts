import { closeSync, fsyncSync, openSync, renameSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Rca } from './compile.ts';
import { rcaHtml } from './html.ts';
import { rcaMarkdown } from './markdown.ts';

/** Phase 6: the report beside its data. A report that cannot be written is handed back to be shown. */
export type WrittenRca =
  | { readonly ok: true; readonly markdown: string; readonly json: string; readonly html: string | null }
  | { readonly ok: false; readonly reason: string; readonly text: string };

export function writeRca(auditDir: string, rca: Rca, html: boolean): WrittenRca {
  const stem = join(auditDir, `ghost_rca_${rca.session_id}`);
  const text = rcaMarkdown(rca);
  try {
    put(`${stem}.json`, `${JSON.stringify(rca, null, 2)}\n`);
    if (html) put(`${stem}.html`, rcaHtml(rca));
    put(`${stem}.md`, text);
    return { ok: true, markdown: `${stem}.md`, json: `${stem}.json`, html: html ? `${stem}.html` : null };
  } catch (error) {
    return { ok: false, reason: error instanceof Error ? error.message : String(error), text };
  }
}

function put(path: string, text: string): void {
  const draft = `${path}.new`;
  const file = openSync(draft, 'w', 0o600);
  try {
    writeSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(draft, path);
}
