/** A small sorted set of half-open ranges: what arrived early, or what the peer says arrived early. */
export interface Range {
  from: number;
  to: number;
}

export class RangeSet {
  readonly ranges: Range[] = [];

  add(from: number, to: number): void {
    if (to <= from) return;
    const merged = { from, to };
    let index = 0;
    while (index < this.ranges.length && this.ranges[index]!.to < from) index += 1;
    let count = 0;
    while (index + count < this.ranges.length && this.ranges[index + count]!.from <= to) {
      merged.from = Math.min(merged.from, this.ranges[index + count]!.from);
      merged.to = Math.max(merged.to, this.ranges[index + count]!.to);
      count += 1;
    }
    this.ranges.splice(index, count, merged);
  }

  /** Forgets everything below `offset`. */
  dropBelow(offset: number): void {
    while (this.ranges.length > 0 && this.ranges[0]!.to <= offset) this.ranges.shift();
    const first = this.ranges[0];
    if (first !== undefined && first.from < offset) first.from = offset;
  }

  clear(): void {
    this.ranges.length = 0;
  }

  get bytes(): number {
    let total = 0;
    for (const range of this.ranges) total += range.to - range.from;
    return total;
  }

  /** First offset at or after `offset` that is not in the set. */
  firstGap(offset: number): number {
    let at = offset;
    for (const range of this.ranges) {
      if (range.from > at) break;
      at = Math.max(at, range.to);
    }
    return at;
  }

  /** Where the next range begins after `offset`; infinity when there is none. */
  nextFrom(offset: number): number {
    for (const range of this.ranges) if (range.from > offset) return range.from;
    return Number.POSITIVE_INFINITY;
  }

  get highest(): number {
    return this.ranges.at(-1)?.to ?? 0;
  }
}
