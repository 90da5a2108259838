import { Agent, request } from 'undici';

/** Where one kind of request goes. */
export interface Destination {
  readonly name: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Times of one stream, in milliseconds since it was asked for. */
export interface StreamTimes {
  readonly firstByte: number;
  readonly total: number;
}

const BODY = JSON.stringify({
  model: 'm',
  stream: true,
  messages: [
    { role: 'system', content: 'You are a careful assistant. Answer briefly and say when you do not know.' },
    { role: 'user', content: 'What does a three-way handshake establish, and what can go wrong with it?' },
  ],
});

async function stream(agent: Agent, { url, headers }: Destination): Promise<StreamTimes> {
  const start = performance.now();
  const { statusCode, body } = await request(url, {
    method: 'POST',
    dispatcher: agent,
    body: BODY,
    headers: { 'content-type': 'application/json', ...headers },
  });
  if (statusCode !== 200) throw new Error(`${url} answered ${statusCode}: ${await body.text()}`);
  let firstByte = 0;
  let tail = '';
  await new Promise<void>((resolve, reject) => {
    body.on('data', (chunk: Buffer) => {
      if (firstByte === 0) firstByte = performance.now() - start;
      tail = chunk.toString('latin1', Math.max(0, chunk.length - 20));
    });
    body.on('end', resolve).on('error', reject);
  });
  if (!tail.includes('[DONE]')) throw new Error(`${url} did not finish its stream`);
  return { firstByte, total: performance.now() - start };
}

/**
 * Keeps `lanes` streams open for `ms`. Lanes start spread over one stream's length and pause a little, each
 * for a time of its own, so that they stay spread: a crowd of users, not a drum. Counted are the streams that
 * are asked for while all lanes are busy.
 */
export async function crowd(
  to: Destination,
  lanes: number,
  ms: number,
  streamMs: number,
): Promise<StreamTimes[]> {
  const agent = new Agent({ connections: lanes * 2, pipelining: 1 });
  const times: StreamTimes[] = [];
  const full = performance.now() + streamMs;
  const until = full + ms;
  let seed = 1;
  const random = () => {
    seed = (Math.imul(seed, 48271) >>> 0) % 2147483647;
    return seed / 2147483647;
  };
  try {
    await Promise.all(
      Array.from({ length: lanes }, async (_, lane) => {
        await sleep((lane / lanes) * streamMs);
        while (performance.now() < until) {
          const counts = performance.now() >= full;
          const taken = await stream(agent, to);
          if (counts) times.push(taken);
          await sleep(random() * 20);
        }
      }),
    );
  } finally {
    await agent.close();
  }
  return times;
}

/** All at the same moment: how long the last of them stands in the queue. */
export async function burst(to: Destination, lanes: number, rounds: number): Promise<StreamTimes[]> {
  const agent = new Agent({ connections: lanes, pipelining: 1 });
  const times: StreamTimes[] = [];
  try {
    for (let i = 0; i < rounds; i++)
      times.push(...(await Promise.all(Array.from({ length: lanes }, () => stream(agent, to)))));
  } finally {
    await agent.close();
  }
  return times;
}

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
