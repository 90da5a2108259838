/** A network of one hidden layer: trained here, written as ONNX, the same weights from the same data. */
import proto from 'onnx-proto';
import { generator } from './secrets-random.ts';

const { onnx } = proto;
const HIDDEN = 16;
const EPOCHS = 14;
/** How often a line is learnt from its signals alone: what holds for words never seen. */
const WITHOUT_WORDS = 0.4;

export interface Example {
  readonly vector: Float32Array;
  readonly labels: readonly number[];
}

export interface Network {
  readonly width: number;
  readonly outputs: number;
  /** width × HIDDEN, by input. */
  readonly first: Float32Array;
  readonly firstBias: Float32Array;
  /** HIDDEN × outputs, by hidden. */
  readonly second: Float32Array;
  readonly secondBias: Float32Array;
}

const sigmoid = (z: number) => 1 / (1 + Math.exp(-z));

export function train(
  data: readonly Example[],
  dense: { readonly from: number; readonly width: number },
  outputs: number,
): Network {
  const r = generator(7);
  const { width } = dense;
  const small = (n: number, scale: number) =>
    Float32Array.from({ length: n }, () => (r.next() - 0.5) * scale);
  const network: Network = {
    width,
    outputs,
    first: small(width * HIDDEN, 0.2),
    firstBias: new Float32Array(HIDDEN).fill(0.05),
    second: small(HIDDEN * outputs, 0.6),
    secondBias: new Float32Array(outputs),
  };
  for (let epoch = 0; epoch < EPOCHS; epoch++) {
    const rate = 0.15 / (1 + epoch * 0.25);
    for (let n = 0; n < data.length; n++) {
      const example = data[Math.floor(r.next() * data.length)] as Example;
      learn(network, example, rate, r.next() < WITHOUT_WORDS ? dense.from : 0);
    }
  }
  return network;
}

/** One step downhill. Inputs before `from` are left out this time. */
function learn(network: Network, { vector, labels }: Example, rate: number, from: number): void {
  const { first, firstBias, second, secondBias, width, outputs } = network;
  const hidden = hiddenOf(network, vector, from);
  const back = new Float32Array(HIDDEN);
  for (let j = 0; j < outputs; j++) {
    let z = secondBias[j] ?? 0;
    for (let h = 0; h < HIDDEN; h++) z += (hidden[h] ?? 0) * (second[h * outputs + j] ?? 0);
    const step = rate * ((labels[j] ?? 0) - sigmoid(z));
    for (let h = 0; h < HIDDEN; h++) {
      const at = h * outputs + j;
      back[h] = (back[h] ?? 0) + step * (second[at] ?? 0);
      second[at] = (second[at] ?? 0) + step * (hidden[h] ?? 0);
    }
    secondBias[j] = (secondBias[j] ?? 0) + step;
  }
  for (let h = 0; h < HIDDEN; h++) {
    if ((hidden[h] ?? 0) <= 0) back[h] = 0;
    firstBias[h] = (firstBias[h] ?? 0) + (back[h] ?? 0);
  }
  for (let i = from; i < width; i++) {
    const x = vector[i] ?? 0;
    if (x === 0) continue;
    for (let h = 0; h < HIDDEN; h++) {
      const at = i * HIDDEN + h;
      first[at] = (first[at] ?? 0) * (1 - 1e-5) + (back[h] ?? 0) * x;
    }
  }
}

function hiddenOf({ first, firstBias, width }: Network, vector: Float32Array, from = 0): Float32Array {
  const hidden = Float32Array.from(firstBias);
  for (let i = from; i < width; i++) {
    const x = vector[i] ?? 0;
    if (x === 0) continue;
    for (let h = 0; h < HIDDEN; h++) hidden[h] = (hidden[h] ?? 0) + x * (first[i * HIDDEN + h] ?? 0);
  }
  return hidden.map((z) => Math.max(0, z));
}

export function score(network: Network, vector: Float32Array): readonly number[] {
  const { second, secondBias, outputs } = network;
  const hidden = hiddenOf(network, vector);
  return Array.from({ length: outputs }, (_, j) => {
    let z = secondBias[j] ?? 0;
    for (let h = 0; h < HIDDEN; h++) z += (hidden[h] ?? 0) * (second[h * outputs + j] ?? 0);
    return sigmoid(z);
  });
}

export function toOnnx(
  name: string,
  { width, outputs, first, firstBias, second, secondBias }: Network,
): Uint8Array {
  const FLOAT = 1;
  const tensor = (label: string, dims: number[], data: Float32Array) => ({
    name: label,
    dims,
    dataType: FLOAT,
    rawData: new Uint8Array(data.buffer, data.byteOffset, data.byteLength),
  });
  const value = (label: string, size: number) => ({
    name: label,
    type: { tensorType: { elemType: FLOAT, shape: { dim: [{ dimParam: 'lines' }, { dimValue: size }] } } },
  });
  const model = onnx.ModelProto.create({
    irVersion: 8,
    producerName: 'writ',
    opsetImport: [{ domain: '', version: 13 }],
    graph: {
      name,
      node: [
        { opType: 'MatMul', input: ['features', 'first'], output: ['a'] },
        { opType: 'Add', input: ['a', 'first_bias'], output: ['b'] },
        { opType: 'Relu', input: ['b'], output: ['hidden'] },
        { opType: 'MatMul', input: ['hidden', 'second'], output: ['c'] },
        { opType: 'Add', input: ['c', 'second_bias'], output: ['logits'] },
        { opType: 'Sigmoid', input: ['logits'], output: ['scores'] },
      ],
      initializer: [
        tensor('first', [width, HIDDEN], first),
        tensor('first_bias', [HIDDEN], firstBias),
        tensor('second', [HIDDEN, outputs], second),
        tensor('second_bias', [outputs], secondBias),
      ],
      input: [value('features', width)],
      output: [value('scores', outputs)],
    },
  });
  return onnx.ModelProto.encode(model).finish();
}
