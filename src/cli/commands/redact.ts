import { EXIT, parseJson } from '../../core/index.ts';
import type { Cli, DefineCommand } from '../cli.ts';
import { type InputLine, inputLines, outlet } from '../json-lines.ts';

export const define: DefineCommand = (command, cli) => {
  command
    .option('--json', 'read all of stdin, write one JSON document: text, count, categories')
    .option(
      '--jsonl',
      'read one JSON value a line (a string as a rule), write it redacted, in the same order',
    )
    .addHelpText(
      'after',
      '\nExamples:\n  az storage account keys list -n sa | writ redact\n  echo \'"password=hunter2!"\' | writ redact --jsonl',
    )
    .action(async (flags: { json?: boolean; jsonl?: boolean }) => {
      if (flags.jsonl) await redactLines(cli);
      else if (flags.json) await redactDocument(cli);
      else await redactStream(cli);
    });
};

/** Bytes in, bytes out; what is not a secret comes out as it went in, also when it is no text. */
async function redactStream(cli: Cli): Promise<void> {
  const { decodeBytes, encodeBytes, redactionStream, unfinished } = await import('../../redact/index.ts');
  const stream = redactionStream();
  let rest = Buffer.alloc(0);
  const out = outlet(cli);
  for await (const chunk of cli.stdin as AsyncIterable<Buffer>) {
    const bytes = Buffer.concat([rest, chunk]);
    const whole = bytes.length - unfinished(bytes);
    rest = Buffer.from(bytes.subarray(whole));
    const shown = stream.push(decodeBytes(bytes.subarray(0, whole)));
    if (shown !== '' && !(await out.write(encodeBytes(shown)))) return;
  }
  await out.write(encodeBytes(stream.push(decodeBytes(rest)) + stream.end()));
}

async function redactLines(cli: Cli): Promise<void> {
  const { redact, redactJson } = await import('../../redact/index.ts');
  const out = outlet(cli);
  let number = 0;
  const answer = (line: InputLine): string => {
    number++;
    const parsed = line.ok ? parseJson(line.text) : ({ ok: false, reason: line.why } as const);
    if (!parsed.ok) {
      // Nothing raw leaves here, the parser's words included: they quote the line. The place is kept with null.
      cli.note(`line ${number}: not a JSON value of a length that can be read`);
      cli.exitCode = EXIT.usage;
      return 'null\n';
    }
    const { value } = parsed;
    return `${JSON.stringify(typeof value === 'string' ? redact(value).text : redactJson(value).value)}\n`;
  };
  for await (const lines of inputLines(cli.stdin)) {
    for (const line of lines) {
      const pending = out.add(answer(line));
      if (pending && !(await pending)) return;
    }
    // Whoever writes a line and waits for its answer gets it.
    if (!(await out.flush())) return;
  }
}

async function redactDocument(cli: Cli): Promise<void> {
  const { redact } = await import('../../redact/index.ts');
  const chunks: Buffer[] = [];
  for await (const chunk of cli.stdin as AsyncIterable<Buffer>) chunks.push(chunk);
  const { text, count, categories } = redact(Buffer.concat(chunks).toString('utf8'));
  cli.json({ text, count, categories });
}
