/** Headers of a ustar archive: plain files, no owners, so that the same evidence gives the same bytes. */
const BLOCK = 512;
const NAME_BYTES = 100;

export function tarHeader(name: string, size: number, mtimeSeconds: number): Buffer {
  if (Buffer.byteLength(name) < NAME_BYTES) return header(name, size, mtimeSeconds, '0');
  // Names that do not fit go before the file as a file of their own, as GNU tar and others read them.
  const long = Buffer.from(`${name}\0`);
  return Buffer.concat([
    header('././@LongLink', long.length, mtimeSeconds, 'L'),
    long,
    tarPadding(long.length),
    header(name.slice(0, NAME_BYTES - 1), size, mtimeSeconds, '0'),
  ]);
}

/** Zeros up to the next block. */
export function tarPadding(size: number): Buffer {
  return Buffer.alloc((BLOCK - (size % BLOCK)) % BLOCK);
}

export const TAR_END = Buffer.alloc(2 * BLOCK);

function header(name: string, size: number, mtimeSeconds: number, type: '0' | 'L'): Buffer {
  const block = Buffer.alloc(BLOCK);
  const octal = (value: number, at: number, length: number) =>
    block.write(`${value.toString(8).padStart(length - 1, '0')}\0`, at, 'latin1');
  block.write(name, 0, NAME_BYTES, 'utf8');
  octal(0o600, 100, 8);
  octal(0, 108, 8);
  octal(0, 116, 8);
  octal(size, 124, 12);
  octal(mtimeSeconds, 136, 12);
  block.write('        ', 148, 'latin1');
  block.write(type, 156, 'latin1');
  block.write('ustar\x0000', 257, 'latin1');
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return block;
}
