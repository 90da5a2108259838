import { type FilePort, type OpenFile, systemFiles } from '../../src/ledger/file-port.ts';

/** A disk that fails at one call. Reads may be left out: they lose nothing. */
export interface FaultyDisk {
  readonly files: FilePort;
  /** Calls made so far. */
  readonly calls: number;
  readonly failed: boolean;
}

/**
 * Fails at call `failAt` (from 1) and at every call after it: a full or dead disk does not come back.
 * `short`: an append that fails has written half of its bytes, as a full disk does.
 */
export function faultyDisk(
  failAt: number,
  options: { readonly short?: boolean; readonly once?: boolean } = {},
): FaultyDisk {
  let calls = 0;
  let failed = false;
  const step = (what: string) => {
    calls += 1;
    if (calls === failAt || (calls > failAt && options.once !== true)) {
      failed = true;
      throw Object.assign(new Error(`ENOSPC: no space left on device, ${what}`), { code: 'ENOSPC' });
    }
  };
  const wrap = (file: OpenFile): OpenFile => ({
    stat: () => file.stat(),
    read: (into, position) => {
      step('read');
      return file.read(into, position);
    },
    append: async (data) => {
      const half =
        options.short === true && calls + 1 === failAt ? data.subarray(0, Math.floor(data.length / 2)) : null;
      if (half && half.length > 0) await file.append(half);
      step('append');
      return file.append(data);
    },
    writeAt: (data, position) => {
      step('writeAt');
      file.writeAt(data, position);
    },
    truncate: (size) => {
      step('truncate');
      file.truncate(size);
    },
    datasync: async () => {
      step('datasync');
      await file.datasync();
    },
    datasyncNow: () => {
      step('datasync');
      file.datasyncNow();
    },
    // Closing releases what was taken; a disk that fails does not keep it.
    close: () => file.close(),
  });
  return {
    get calls() {
      return calls;
    },
    get failed() {
      return failed;
    },
    files: {
      open: (path, how) => {
        step(`open ${how}`);
        return wrap(systemFiles.open(path, how));
      },
      exists: (path) => systemFiles.exists(path),
      list: (dir) => systemFiles.list(dir),
      rename: (from, to) => {
        step('rename');
        systemFiles.rename(from, to);
      },
      syncDir: (dir) => {
        step('syncDir');
        systemFiles.syncDir(dir);
      },
    },
  };
}
