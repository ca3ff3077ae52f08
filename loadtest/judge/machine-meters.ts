import { bytesText, countText, perSecondText } from '../../src/report/format.ts';
import type { HostSample, Sample } from '../sample/sample.ts';
import type { Look, Meter, Reading } from './meter.ts';
import { growthOf, meanOf, perSecond, seriesOf } from './part-series.ts';

/** What lies between the parts: loopback, the disk, queueing disciplines that hold packets back. */
export const machineMeters: readonly Meter[] = [
  { kind: 'network', name: 'the network', cause: 'the network', growsWithRate: false, read: network },
  { kind: 'disk', name: 'the busiest disk', cause: 'the disk', growsWithRate: true, read: disk },
  { kind: 'limiter', name: 'a limiter of packets', cause: 'a limiter', growsWithRate: false, read: limiter },
];

/** Sent again, of what was searched for: a few are ordinary wherever there is a wire. */
const RESENT_SHARE = 0.01;

/** Loopback has no capacity to be a share of: it is full when something is lost. */
function network({ samples, searchesPerSecond }: Look): Reading | undefined {
  const bytes = counter(samples, (host) => host.loopbackBytes);
  if (bytes === undefined) return undefined;
  const dropped =
    (grown(samples, (host) => host.loopbackDrops) ?? 0) + (grown(samples, (host) => host.listenDrops) ?? 0);
  const resent = counter(samples, (host) => host.retransmits) ?? 0;
  const sockets = meanOf(seriesOf(samples, ({ host }) => host?.tcpInUse));
  const words = [
    `${bytesText(bytes)}/s over loopback`,
    dropped > 0 ? `${countText(dropped)} dropped` : 'nothing dropped',
    ...(resent > 0 ? [`${perSecondText(resent)} sent again`] : []),
    ...(sockets === undefined ? [] : [`${countText(sockets)} TCP sockets`]),
  ].join(', ');
  const isFull = dropped > 0 || (searchesPerSecond > 0 && resent > RESENT_SHARE * searchesPerSecond);
  return isFull ? { share: 1, words } : { words };
}

function disk({ samples }: Look): Reading | undefined {
  const busyMs = counter(samples, (host) => host.diskBusyMs);
  const written = counter(samples, (host) => host.diskWrittenBytes);
  if (busyMs === undefined) return undefined;
  const writes = written === undefined ? '' : `, ${bytesText(written)}/s written`;
  return { share: busyMs / 1000, words: `busy ${Math.round(busyMs)} ms a second${writes}` };
}

function limiter({ samples }: Look): Reading | undefined {
  const drops = grown(samples, (host) => host.limiterDrops);
  const held = grown(samples, (host) => host.limiterOverlimits);
  if (drops === undefined || held === undefined) return undefined;
  return drops + held === 0
    ? { share: 0, words: 'nothing held back' }
    : { share: 1, words: `${countText(drops)} packets dropped, ${countText(held)} held back` };
}

function counter(samples: readonly Sample[], read: (host: HostSample) => number | undefined): number | undefined {
  return perSecond(seriesOf(samples, ({ host }) => (host === undefined ? undefined : read(host))));
}

function grown(samples: readonly Sample[], read: (host: HostSample) => number | undefined): number | undefined {
  return growthOf(seriesOf(samples, ({ host }) => (host === undefined ? undefined : read(host))));
}
