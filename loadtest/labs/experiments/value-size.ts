import { amountText, bytesText, countText } from '../../../src/report/format.ts';
import type { Experiment, Lab, LabStore } from '../kit/lab.ts';
import { fillFirst } from '../kit/table.ts';
import { valueSizeCharts } from './value-size/charts.ts';
import { BIG_FIELDS, FIELD_BYTES, hashFill } from './value-size/hash.ts';
import { type HashReads, hashReads, SMALL_PER_SECOND } from './value-size/hash-reads.ts';
import { hashWrites } from './value-size/hash-writes.ts';
import { valueSizeLesson } from './value-size/lesson.ts';
import { overLink } from './value-size/link.ts';
import { CLIENTS, depthOf, PIPELINED_CLIENTS, PUBLISHED, rowName, SIZES } from './value-size/sizes.ts';
import { hashReadTable, hashWriteTable, linkTable, nearTable, unsizedTable } from './value-size/tables.ts';
import { readValues, storeValues, type Transfer, writeValues } from './value-size/transfer.ts';
import { type UnsizedGet, unsizedGets } from './value-size/unsized-get.ts';

const SECONDS = 0.7;

/** What large values and large hashes cost, and whom. */
export const valueSize: Experiment = {
  varies: 'values of 1 KB to 4 MB, written and read, pipelined or not; a hash of 20,000 fields read in pieces',
  parts: ['redis'],
  run: async (lab) => {
    const store = await lab.startStore();
    const unsized = await unsizedGets(lab, store);
    const near = await onLoopback(lab, store);
    await lab.clear();
    const link = await overLink(lab);
    await lab.clear();
    const reads = await hashReads(lab, await lab.startStore());
    await lab.clear();
    const writes = await hashWrites(lab, [await lab.startStore(), await lab.startStore()]);
    return {
      title: 'How large a value may be',
      published:
        'SET of 4 MB: a low rate, a full network and an idle processor; SET of 4 KB with 5,000 at once: 508k/s; a hash of 20,000 fields read 3000, 300 and 30 fields at a time: 10 s, 100 ms and 20 ms; a big hash does not slow writes',
      tables: [
        nearTable(near),
        linkTable(link),
        unsizedTable(unsized),
        ...fillFirst(hashFill(BIG_FIELDS), [hashReadTable(reads)]),
        hashWriteTable(writes),
      ],
      charts: valueSizeCharts(near, link, reads),
      lesson: valueSizeLesson({ near, link, reads, writes }),
      notes: notes(unsized, link, reads),
    };
  },
};

async function onLoopback(lab: Lab, store: LabStore): Promise<readonly Transfer[]> {
  const rows: Transfer[] = [];
  const seconds = lab.seconds(SECONDS);
  for (const bytes of SIZES) {
    const depths = [1, depthOf(bytes)];
    await storeValues(lab, store, bytes);
    for (const pipeline of depths) {
      lab.say(rowName('GET', bytes, pipeline));
      rows.push(await readValues(lab, { store, bytes, pipeline, seconds }));
    }
    for (const pipeline of depths) {
      lab.say(rowName('SET', bytes, pipeline));
      rows.push(await writeValues(lab, { store, bytes, pipeline, seconds }));
    }
  }
  // Writes before reads, single before pipelined, each from small to large.
  const rank = ({ way, pipeline }: Transfer): number => (way === 'SET' ? 0 : 2) + (pipeline === 1 ? 0 : 1);
  return rows.toSorted((one, other) => rank(one) - rank(other));
}

function notes(
  unsized: readonly UnsizedGet[],
  link: readonly Transfer[] | string,
  reads: HashReads,
): readonly string[] {
  const unanswered = reads.rows.filter(({ alone }) => alone === undefined).map(({ name }) => name);
  const [, large] = PUBLISHED.get;
  const replies = [...new Set(unsized.map(({ replyBytes }) => countText(Math.round(replyBytes))))].join(' and ');
  const pipelined = PUBLISHED.pipelinedSetPerSecond * 4096;
  return [
    `The published rows of GET cannot be: ${countText(large.perSecond)}/s of ${bytesText(large.bytes)} would be ${bytesText(large.bytes * large.perSecond)}/s, and values a thousand times larger would be read at nearly the same rate. redis-benchmark's -d says how large a value SET writes and does nothing to GET: asked the same way with nothing stored, a reply is ${replies} bytes here.`,
    'So values were stored before they were read, and every row of GET counts the bytes that were received: its rate is those bytes over the bytes of a reply.',
    `The published ${countText(PUBLISHED.pipelinedSetPerSecond)}/s of SET with 4 KiB are ${bytesText(pipelined)}/s, ${amountText((pipelined * 8) / 1e9)} Gbit/s: that can be, but over no link of 10 Gbit/s.`,
    'SET is sent by redis-benchmark. GET is sent by the driver of this project, because redis-benchmark stops its clock at the first bytes of a reply and would show no time for the rest; the printed command asks for the same.',
    `${CLIENTS} connections with one command each; or ${PIPELINED_CLIENTS} with as many at once as fit in ${bytesText(PUBLISHED.pipeline * 4096)}, 5,000 at most as published.`,
    'On loopback nothing is sent anywhere: the network is memory that the processors of both sides copy, so it can only be full when they are.',
    typeof link === 'string'
      ? `There was no link of a known bandwidth to measure over: ${link}.`
      : 'The link is a pair of virtual interfaces into a network namespace, held to 1 Gbit/s each way by a token bucket with a queue that drops nothing; p99 is mostly time in that queue. Neither side was full where the limit says so: the link was waited for.',
    'The stores run with deploy/redis/redis-cache.conf as it is: values stay below its proto-max-bulk-len of 16 MB, pipelines of 20 MB and fifty readers of a whole hash below what it lets clients leave unread (64 MB each, 256 MB all together).',
    `Fields are ${FIELD_BYTES} bytes long. The time for the whole hash is that of one reply times how many it takes, one after the other. Small reads are ${SMALL_PER_SECOND}/s of 100 bytes by another process, which shares its core with whoever reads the hash.`,
    ...(unanswered.length === 0
      ? []
      : [`${unanswered.join('; ')}: not answered once in the time of a row, so there are no figures of one client.`]),
  ];
}
