import { gaussianKey, mixKey, valueBytes } from '../mix.ts';
import { respCommand } from '../resp.ts';
import type { Commands } from './plan.ts';

const PLACE = '__rand_int__';

/** The next command as bytes, each time it is called. */
export function nextCommand(commands: Commands, random: () => number): () => Buffer {
  if (commands.kind === 'mix') return nextOfMix(commands, random);
  const { words, keys = 1 } = commands;
  if (!words.some((word) => word.includes(PLACE))) {
    const bytes = respCommand(words);
    return () => bytes;
  }
  return () => respCommand(words.map((word) => word.replaceAll(PLACE, () => String(Math.floor(random() * keys)))));
}

function nextOfMix(mix: Extract<Commands, { kind: 'mix' }>, random: () => number): () => Buffer {
  const value = Buffer.alloc(mix.mostBytes, 'x');
  return () => {
    const key = mixKey(gaussianKey(mix.keys, random));
    if (random() >= mix.writes) return Buffer.from(`*2\r\n$3\r\nGET\r\n$${key.length}\r\n${key}\r\n`);
    return respCommand(['SET', key, value.subarray(0, valueBytes(mix, random))]);
  };
}
