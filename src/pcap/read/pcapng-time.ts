import { u32be, u32le } from './bytes.ts';

/** How an interface writes time: units a second, and seconds to add. */
export interface Clockwork {
  readonly unitsPerSecond: bigint;
  /** The same as a number when it is small enough for exact arithmetic, else 0. */
  readonly units: number;
  readonly offset: number;
}

export const MICROSECONDS: Clockwork = { unitsPerSecond: 1_000_000n, units: 1_000_000, offset: 0 };

/** Below this, `remainder * 65536` stays exact in a double. */
const EXACT_UNITS = 2 ** 36;

/** `if_tsresol`: the high bit chooses powers of two over powers of ten. Undefined for what no clock has. */
export function clockwork(resolution: number, offset: number): Clockwork | undefined {
  const exponent = resolution & 0x7f;
  const binary = (resolution & 0x80) !== 0;
  if (binary ? exponent > 63 : exponent > 19) return undefined;
  const unitsPerSecond = binary ? 1n << BigInt(exponent) : 10n ** BigInt(exponent);
  const small = unitsPerSecond <= BigInt(EXACT_UNITS);
  return { unitsPerSecond, units: small ? Number(unitsPerSecond) : 0, offset };
}

/** Seconds and nanoseconds of the last timestamp read: two numbers, no object a packet. */
export class TimestampReader {
  seconds = 0;
  nanoseconds = 0;

  read(b: Uint8Array, o: number, little: boolean, clock: Clockwork): void {
    const high = little ? u32le(b, o) : u32be(b, o);
    const low = little ? u32le(b, o + 4) : u32be(b, o + 4);
    this.#divide(high, low, clock);
  }

  /** The same from one number of 64 bits: packets have their high half first in either byte order, this has not. */
  read64(b: Uint8Array, o: number, little: boolean, clock: Clockwork): void {
    if (little) this.#divide(u32le(b, o + 4), u32le(b, o), clock);
    else this.#divide(u32be(b, o), u32be(b, o + 4), clock);
  }

  #divide(high: number, low: number, clock: Clockwork): void {
    const units = clock.units;
    if (units === 0) {
      this.#wide(high, low, clock);
      return;
    }
    // Long division in base 65536: exact for every 64-bit value.
    let quotient = Math.floor(high / units);
    let rest = high - quotient * units;
    let dividend = rest * 65_536 + (low >>> 16);
    let digit = Math.floor(dividend / units);
    quotient = quotient * 65_536 + digit;
    rest = dividend - digit * units;
    dividend = rest * 65_536 + (low & 0xffff);
    digit = Math.floor(dividend / units);
    quotient = quotient * 65_536 + digit;
    rest = dividend - digit * units;
    this.seconds = quotient + clock.offset;
    if (units === 1_000_000_000) this.nanoseconds = rest;
    else if (units === 1_000_000) this.nanoseconds = rest * 1000;
    else this.nanoseconds = Number((BigInt(rest) * 1_000_000_000n) / clock.unitsPerSecond);
  }

  #wide(high: number, low: number, clock: Clockwork): void {
    const value = (BigInt(high) << 32n) | BigInt(low);
    const rest = value % clock.unitsPerSecond;
    this.seconds = Number(value / clock.unitsPerSecond) + clock.offset;
    this.nanoseconds = Number((rest * 1_000_000_000n) / clock.unitsPerSecond);
  }
}
