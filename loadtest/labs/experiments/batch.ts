import type { Experiment } from '../kit/lab.ts';
import { fillFirst } from '../kit/table.ts';
import { batchCharts } from './batch/charts.ts';
import { clientViews } from './batch/client-view.ts';
import { batchLesson } from './batch/lesson.ts';
import { PAGE_FILL, storePages } from './batch/pages.ts';
import { refusalOfTwoSlots } from './batch/slots.ts';
import { sweep } from './batch/sweep.ts';
import { clientTable, shareTable, sweepTables, waysTable } from './batch/tables.ts';
import { waysToAsk } from './batch/ways.ts';

const SECONDS = 1.2;
/** The load whose time is taken apart: enough to keep the store busy, few enough that nothing queues for long. */
const SHARE_CLIENTS = 10;

/** How many commands to send at once. */
export const batch: Experiment = {
  varies: 'pipelines of 1 to 500 at three loads; MGET, pipelined GET and Lua; where the time of a command goes',
  parts: ['redis'],
  run: async (lab) => {
    const refusal = await refusalOfTwoSlots(lab);
    await lab.clear();
    const store = await lab.startStore();
    await storePages(lab, store);
    const seconds = lab.seconds(SECONDS);
    const rows = await sweep(lab, store, seconds);
    const views = await clientViews(lab, store, lab.seconds(1));
    const ways = await waysToAsk(lab, store, seconds);
    return {
      title: 'How many commands to send at once',
      published:
        'single commands 5k/s with a p99 of 35 ms; 10 at once 8k/s and 22 ms; 50: 12k/s and 18 ms; 100: 18.5k/s and 15 ms; 200: 20k/s and 14 ms; 500: 19.8k/s and 16 ms; the golden number, 100 to 200, moves with the load; MGET for few fixed keys, pipelined GET for many that vary',
      tables: fillFirst(PAGE_FILL, [
        ...sweepTables(rows),
        clientTable(views),
        waysTable(ways),
        shareTable(rows, SHARE_CLIENTS),
      ]),
      charts: batchCharts(rows, views),
      lesson: batchLesson({ rows, ways, refusal }),
      notes: [
        'GET of 100,000 pages of the published mix, 100 to 6000 bytes each, by redis-benchmark; each row is the better of two runs of half its time, one on the way from small batches to large and one on the way back.',
        'The load at which the published figures were measured is not known: they stand beside every load.',
        'redis-benchmark stops its clock at the first bytes of a batch. A whole batch takes, on average, what is under way over what is answered in a second (Little 1961). The client in Node waits for every reply, and p99 is that of its commands.',
        'What the store held for its clients is its own figure (mem_clients_normal), the most of a look every 60 ms: requests it has not read yet and replies that nobody took.',
        "Network is processor time of the store in the kernel, execution is what it counts in commandstats (copying the reply included), parsing and replying is the rest of its own time; read over both runs and their pilots, in steps of 10 ms. On loopback the kernel does some of a receiver's work while the sender sends.",
        refusal === undefined
          ? 'A node of a cluster took MGET of two slots, which it should not.'
          : `A node of a cluster answers MGET of two slots with: ${refusal}.`,
      ],
    };
  },
};
