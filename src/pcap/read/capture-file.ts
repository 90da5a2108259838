/**
 * From a path to frames: recognises the container, unpacks gzip, feeds the parser from one fixed buffer.
 *
 * Invariants:
 * 1. One buffer, whatever the file's size; what a parser left is moved to the front and filled up.
 * 2. What is no capture is a `NotACapture`; what is damaged ends with a problem and the frames before it.
 */
import { createHash, type Hash } from 'node:crypto';
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { createGunzip } from 'node:zlib';
import { CODES, EXIT, messageOf, WritError } from '../../core/index.ts';
import { u32be } from './bytes.ts';
import { type HashInProgress, hashOnThread, LARGE_FILE } from './file-hash.ts';
import { PcapParser, pcapMagic } from './pcap.ts';
import { PcapngParser, SECTION_HEADER } from './pcapng.ts';
import type { CaptureParser, FrameSink } from './sink.ts';

/** Room for the largest piece a parser may need at once, whatever was left from before. */
const BUFFER = 1024 * 1024;
/** Read at a time: small enough to stay in a core's own cache between the kernel's copy and the parser. */
const STEP = 128 * 1024;
/** gunzip output is bounded by the parser's pace; its input is read in pieces of this size. */
const PACKED_PIECE = 256 * 1024;

export interface ReadOptions {
  /** Hash the file's bytes on the way (those on disk, packed or not). */
  readonly hash?: boolean;
  /** Told how many bytes of the file were read, of how many. */
  readonly progress?: (done: number, total: number) => void;
}

export interface ReadResult {
  readonly parser: CaptureParser;
  readonly compressed: boolean;
  readonly sha256: string;
  readonly size: number;
}

/** The file cannot be read as a capture: exit 2, with what to do about it. */
export class NotACapture extends WritError {
  constructor(path: string, reason: string, suggestion: string) {
    super(CODES.invalid_input, `${path}: ${reason}`, {
      suggestion,
      context: { file: path },
      exit: EXIT.usage,
    });
    this.name = 'NotACapture';
  }
}

export async function readCapture(
  path: string,
  sink: FrameSink,
  options: ReadOptions = {},
): Promise<ReadResult> {
  const fd = open(path);
  let thread: HashInProgress | undefined;
  try {
    const status = fstatSync(fd);
    if (status.isDirectory())
      throw new NotACapture(path, 'is a directory, not a capture file', 'name a file in it');
    const feed = new Feed(path, sink);
    const size = status.size;
    thread = options.hash && status.isFile() && size >= LARGE_FILE ? hashOnThread(fd) : undefined;
    const hash = options.hash && thread === undefined ? createHash('sha256') : undefined;
    const compressed = await pump(fd, path, feed, size, hash, options.progress);
    const parser = feed.end();
    return { parser, compressed, sha256: thread ? await thread.digest : (hash?.digest('hex') ?? ''), size };
  } finally {
    await thread?.stop();
    closeSync(fd);
  }
}

function open(path: string): number {
  try {
    return openSync(path, 'r');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOENT') throw new NotACapture(path, 'no such file', 'check the path');
    if (code === 'EACCES' || code === 'EPERM')
      throw new NotACapture(path, 'permission denied', 'run as a user who may read it, or chmod the file');
    throw new NotACapture(path, `cannot be opened (${messageOf(error)})`, 'check the path');
  }
}

/** Reads the file to its end or to the parser's stop; answers whether it was gzip. */
async function pump(
  fd: number,
  path: string,
  feed: Feed,
  size: number,
  hash: Hash | undefined,
  progress: ReadOptions['progress'],
): Promise<boolean> {
  const first = feed.fillFrom(fd, path);
  if (feed.isGzip()) {
    await unpack(fd, path, feed, hash, size, progress);
    return true;
  }
  let done = 0;
  for (let got = first; got > 0; got = feed.fillFrom(fd, path)) {
    done += got;
    if (hash) hash.update(feed.lastRead());
    feed.consume();
    progress?.(done, size);
    // A damaged file is still hashed to its end, since the hash names the whole file.
    if (feed.stopped && !hash) break;
  }
  return false;
}

async function unpack(
  fd: number,
  path: string,
  feed: Feed,
  hash: Hash | undefined,
  size: number,
  progress: ReadOptions['progress'],
): Promise<void> {
  const gunzip = createGunzip({ chunkSize: 256 * 1024 });
  let failed: unknown;
  gunzip.on('error', (error) => {
    failed = error;
  });
  const head = Uint8Array.from(feed.lastRead());
  feed.reset();
  hash?.update(head);
  let done = head.length;
  const piece = new Uint8Array(PACKED_PIECE);
  const drain = () => {
    for (let chunk: Buffer | null = gunzip.read(); chunk !== null; chunk = gunzip.read()) feed.take(chunk);
  };
  /** Waits until the piece is unpacked, taking output as it comes so that nothing piles up. */
  const write = (bytes: Uint8Array): Promise<void> =>
    new Promise((resolve) => {
      const onReadable = () => drain();
      gunzip.on('readable', onReadable);
      const finish = () => {
        gunzip.off('readable', onReadable);
        gunzip.off('error', finish);
        resolve();
      };
      gunzip.once('error', finish);
      gunzip.write(bytes, finish);
    });
  await write(head);
  for (let got = 1; got > 0; ) {
    got = readFrom(fd, path, piece, 0, piece.length);
    if (got === 0) break;
    done += got;
    const bytes = piece.subarray(0, got);
    hash?.update(bytes);
    if (failed === undefined && !feed.stopped) await write(bytes);
    drain();
    progress?.(done, size);
    if ((failed !== undefined || feed.stopped) && !hash) break;
  }
  if (failed === undefined && !feed.stopped) await endOf(gunzip, drain);
  drain();
  gunzip.destroy();
  if (failed !== undefined && !feed.stopped) feed.packedDamage(messageOf(failed));
}

function endOf(gunzip: ReturnType<typeof createGunzip>, drain: () => void): Promise<void> {
  return new Promise((resolve) => {
    gunzip.on('readable', drain);
    gunzip.once('end', resolve);
    gunzip.once('error', () => resolve());
    gunzip.end();
    drain();
  });
}

function readFrom(fd: number, path: string, into: Uint8Array, at: number, length: number): number {
  try {
    return readSync(fd, into, at, length, null);
  } catch (error) {
    throw new NotACapture(
      path,
      `cannot be read (${messageOf(error)})`,
      'check the file and the disk it is on',
    );
  }
}

/** The one buffer and the parser behind it. */
class Feed {
  readonly #path: string;
  readonly #sink: FrameSink;
  readonly #buffer = new Uint8Array(BUFFER);
  #start = 0;
  #end = 0;
  #lastStart = 0;
  #parser: CaptureParser | undefined;
  #packed: string | undefined;

  constructor(path: string, sink: FrameSink) {
    this.#path = path;
    this.#sink = sink;
  }

  get stopped(): boolean {
    return this.#parser?.stopped === true;
  }

  fillFrom(fd: number, path: string): number {
    if (this.stopped) this.#start = this.#end;
    this.#compact();
    this.#lastStart = this.#end;
    const got = readFrom(fd, path, this.#buffer, this.#end, Math.min(STEP, BUFFER - this.#end));
    this.#end += got;
    return got;
  }

  lastRead(): Uint8Array {
    return this.#buffer.subarray(this.#lastStart, this.#end);
  }

  reset(): void {
    this.#start = 0;
    this.#end = 0;
  }

  isGzip(): boolean {
    const b = this.#buffer;
    return this.#end >= 3 && b[0] === 0x1f && b[1] === 0x8b && b[2] === 8;
  }

  /** Takes unpacked bytes, in as many steps as the buffer needs. */
  take(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.length && !this.stopped; ) {
      this.#compact();
      const step = Math.min(chunk.length - at, BUFFER - this.#end);
      this.#buffer.set(chunk.subarray(at, at + step), this.#end);
      this.#end += step;
      at += step;
      this.consume();
    }
  }

  consume(): void {
    this.#parser ??= this.#recognise();
    if (this.#parser === undefined || this.#parser.stopped) return;
    this.#start = this.#parser.consume(this.#buffer, this.#start, this.#end, false);
  }

  packedDamage(reason: string): void {
    this.#packed = reason;
  }

  end(): CaptureParser {
    if (this.#parser === undefined) throw this.#unknown();
    const parser = this.#parser;
    if (!parser.stopped) this.#start = parser.consume(this.#buffer, this.#start, this.#end, true);
    if (this.#packed !== undefined && !parser.stopped) {
      parser.problems.push({
        kind: 'corrupt',
        message: `the gzip data is damaged (${this.#packed})`,
        after_frame: -1,
      });
      parser.stopped = true;
    }
    parser.finish(this.#end - this.#start);
    return parser;
  }

  #recognise(): CaptureParser | undefined {
    if (this.#end - this.#start < 4) return undefined;
    if (u32be(this.#buffer, this.#start) === SECTION_HEADER) return new PcapngParser(this.#sink);
    const pcap = pcapMagic(this.#buffer, this.#start);
    if (pcap !== undefined) return new PcapParser(pcap, this.#sink);
    throw this.#unknown();
  }

  #unknown(): NotACapture {
    const empty = this.#end === this.#start && this.#packed === undefined;
    const reason = empty ? 'is empty, not a capture file' : 'is not a capture file (no pcap or pcapng magic)';
    return new NotACapture(
      this.#path,
      reason,
      'give a pcap or pcapng file, as written by tcpdump, dumpcap or Network Watcher',
    );
  }

  #compact(): void {
    if (this.#start === 0) return;
    this.#buffer.copyWithin(0, this.#start, this.#end);
    this.#end -= this.#start;
    this.#start = 0;
  }
}
