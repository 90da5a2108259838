/**
 * Aho-Corasick over lower-cased ASCII: finds every anchor in one pass, a table lookup a character,
 * whatever the text. States that end an anchor get the highest numbers, so the hot loop needs one
 * comparison to know that nothing happened.
 */
export interface Automaton {
  /** `next[state * classes + classOf[char]]` */
  readonly next: Uint16Array;
  readonly classOf: Uint8Array;
  readonly classes: number;
  readonly firstOutput: number;
  /** Anchors that end in state `firstOutput + i`, longest first. */
  readonly outputs: readonly (readonly number[])[];
}

interface Node {
  readonly children: Map<number, number>;
  fail: number;
  readonly ends: number[];
}

export function buildAutomaton(anchors: readonly string[]): Automaton {
  const classOf = new Uint8Array(256);
  let classes = 1;
  for (const anchor of anchors)
    for (let i = 0; i < anchor.length; i++) {
      const c = anchor.charCodeAt(i);
      if (c > 127) throw new RangeError(`an anchor must be ASCII: ${anchor}`);
      if (classOf[c] === 0) classOf[c] = classes++;
    }
  for (let c = 65; c <= 90; c++) classOf[c] = classOf[c + 32]!;
  const nodes = trie(anchors, classOf);
  link(nodes);
  return number(nodes, anchors, classOf, classes);
}

function trie(anchors: readonly string[], classOf: Uint8Array): Node[] {
  const nodes: Node[] = [{ children: new Map(), fail: 0, ends: [] }];
  anchors.forEach((anchor, index) => {
    let at = 0;
    for (let i = 0; i < anchor.length; i++) {
      const cls = classOf[anchor.charCodeAt(i)]!;
      let child = nodes[at]!.children.get(cls);
      if (child === undefined) {
        child = nodes.push({ children: new Map(), fail: 0, ends: [] }) - 1;
        nodes[at]!.children.set(cls, child);
      }
      at = child;
    }
    nodes[at]!.ends.push(index);
  });
  return nodes;
}

/** Breadth first: the failure link of a node is known before those of its children are needed. */
function link(nodes: readonly Node[]): void {
  const queue = [...nodes[0]!.children.values()];
  for (let head = 0; head < queue.length; head++) {
    const node = nodes[queue[head]!]!;
    for (const [cls, child] of node.children) {
      queue.push(child);
      let fail = node.fail;
      while (fail !== 0 && !nodes[fail]!.children.has(cls)) fail = nodes[fail]!.fail;
      const target = nodes[fail]!.children.get(cls) ?? 0;
      nodes[child]!.fail = target;
      nodes[child]!.ends.push(...nodes[target]!.ends);
    }
  }
}

function number(
  nodes: readonly Node[],
  anchors: readonly string[],
  classOf: Uint8Array,
  classes: number,
): Automaton {
  const order = [...nodes.keys()].sort((a, b) => Number(ends(a)) - Number(ends(b)) || a - b);
  const newId = new Map(order.map((old, id) => [old, id]));
  const firstOutput = order.findIndex(ends);
  const next = new Uint16Array(nodes.length * classes);
  order.forEach((old, id) => {
    for (let cls = 1; cls < classes; cls++) {
      let at = old;
      while (at !== 0 && !nodes[at]!.children.has(cls)) at = nodes[at]!.fail;
      next[id * classes + cls] = newId.get(nodes[at]!.children.get(cls) ?? 0)!;
    }
  });
  const outputs = order
    .slice(firstOutput)
    .map((old) => [...nodes[old]!.ends].sort((a, b) => anchors[b]!.length - anchors[a]!.length));
  return { next, classOf, classes, firstOutput, outputs };

  function ends(id: number): boolean {
    return nodes[id]!.ends.length > 0;
  }
}
