import type { Readable, Writable } from 'node:stream';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { parseJson } from '../../core/index.ts';
import { errorOf, RPC } from './message.ts';

/**
 * JSON-RPC over two streams, a message a line: a server's stdin and stdout, or our own.
 *
 * JL1 Messages are handed over one by one and the next is read when the last was taken: who floods waits.
 * JL2 A line beyond the limit ends the conversation; so does an end that does not read while more than
 *     the limit waits for it.
 * JL3 Lines of one turn of the event loop are written together.
 */
export interface LineEnds {
  readonly input: Readable;
  readonly output: Writable;
  /** Settles when the other end is gone: what waits to be written waits no longer. */
  readonly gone: Promise<unknown>;
  /** Ends the other side, if that is ours to do. */
  readonly stop: () => Promise<void>;
  readonly maxBytes: number;
  /** What a line that is not JSON is answered with; without it such lines are chatter and skipped. */
  readonly malformed?: () => JSONRPCMessage;
}

/** The client that launched us, on our own stdin and stdout. */
export function stdioClient(input: Readable, output: Writable, maxBytes: number): Transport {
  return lineTransport({
    input,
    output,
    gone: new Promise((resolve) => output.once('close', resolve)),
    // Both are the process's own and end with it.
    stop: async () => undefined,
    maxBytes,
    malformed: () => errorOf(null, { code: RPC.parseError, message: 'Parse error: this is not JSON' }),
  });
}

const MAX_BATCH = 100;
/** An answer may be as large as a message; a few of them may wait. */
const MAX_WAITING = 4;

export function lineTransport(ends: LineEnds): Transport {
  const { input, output, maxBytes } = ends;
  let closed = false;
  let corked = false;
  let draining: Promise<unknown> | undefined;

  const transport: Transport = {
    start: async () => void read(),
    send: async (message) => {
      if (closed) throw new Error('the other end is gone');
      if (output.writableLength > maxBytes * MAX_WAITING) {
        void finish();
        throw new Error('the other end does not read');
      }
      if (!corked) {
        corked = true;
        output.cork();
        process.nextTick(() => {
          corked = false;
          output.uncork();
        });
      }
      if (output.write(`${JSON.stringify(message)}\n`)) return;
      draining ??= Promise.race([new Promise((resolve) => output.once('drain', resolve)), ends.gone]).finally(
        () => {
          draining = undefined;
        },
      );
      await draining;
    },
    close: () => finish(),
  };

  const finish = async () => {
    if (closed) return;
    closed = true;
    await ends.stop();
    transport.onclose?.();
  };

  const take = async (line: string): Promise<void> => {
    const parsed = parseJson(line);
    if (!parsed.ok) {
      if (ends.malformed !== undefined && line.trim() !== '') await transport.send(ends.malformed());
      return;
    }
    // A batch of old: its messages are answered one by one.
    const batch = Array.isArray(parsed.value) && parsed.value.length > 0 && parsed.value.length <= MAX_BATCH;
    for (const value of batch ? (parsed.value as readonly unknown[]) : [parsed.value])
      await (transport.onmessage?.(value as JSONRPCMessage) as unknown);
  };

  const read = async () => {
    let held: Buffer[] = [];
    let size = 0;
    try {
      for await (const chunk of input as AsyncIterable<Buffer>) {
        let from = 0;
        for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, from)) {
          const piece = chunk.subarray(from, at);
          const line = held.length === 0 ? piece : Buffer.concat([...held, piece]);
          held = [];
          size = 0;
          from = at + 1;
          await take(line.toString('utf8'));
        }
        if (from < chunk.length) held.push(chunk.subarray(from));
        size += chunk.length - from;
        if (size > maxBytes) throw new Error(`a message is larger than ${maxBytes} bytes`);
      }
    } catch (error) {
      transport.onerror?.(error as Error);
    }
    await finish();
  };
  return transport;
}
