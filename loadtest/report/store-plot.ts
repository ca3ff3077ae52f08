import { perSecondText } from '../../src/report/format.ts';
import type { Sample } from '../sample/sample.ts';
import { curve, highest, type Sheet } from './curve.ts';
import { type Counted, growthPerSecond, perReplica, total } from './growth.ts';
import { linePlot, type Plot } from './plot.ts';

/** How a command ends that was not answered in time, as the service counts it. */
const UNANSWERED = ['refused', 'node-open', 'store-down', 'store-saturated', 'store-slow'];

/** What the stores were asked: by the processes as they count it, and by the nodes as they do. */
export function storePlot(sheet: Sheet, id: string): Plot {
  const rate = (read: (sample: Sample) => Counted) =>
    curve(sheet, sheet.timeline.samples, (between) => growthPerSecond(between, read), 'mean');
  const asked = rate((sample) => perReplica(sample, ({ storeCommands }) => total(Object.values(storeCommands))));
  const failed = rate((sample) =>
    perReplica(sample, ({ storeCommands }) => total(UNANSWERED.map((ended) => storeCommands[ended] ?? 0))),
  );
  const evicted = rate(({ stores }) => stores.map((node) => [node.name, node.evicted]));
  return linePlot({
    ...{ sheet, id, text: perSecondText },
    title: 'Store commands, per second',
    curves: [
      {
        style: 'nodes',
        name: 'at the nodes, all commands',
        runs: rate(({ stores }) => stores.map((node) => [node.name, node.commands])),
        hasSpread: true,
      },
      { style: 'store', name: 'of the service, as it counts them', runs: asked, hasSpread: true },
      { style: 'failed', name: 'of those without an answer', runs: highest(failed) > 0 ? failed : [], hasSpread: true },
      { style: 'dropped', name: 'keys evicted', runs: highest(evicted) > 0 ? evicted : [] },
    ],
    missing: 'neither the processes nor the nodes could be asked.',
  });
}
