import type { StoreEvent } from '../../cache/store.ts';
import type { ConnectedStoreSettings, DomainSettings, StoreSettings } from '../../config/settings.ts';
import { CONFIGURED, cutOverYaml, fingerprintOf } from '../../config/store-identity.ts';
import type { ControlDocument, StoreRef } from '../../control/document.ts';
import type { Clock } from '../../runtime.ts';
import { createPlacedStore, type DeclaredStore, type OpenStore, type PlacedStore } from './placed-store.ts';

/** The stores of a domain with candidates. */
export interface ShadowedStore {
  readonly placed: PlacedStore;
  readonly candidates: readonly StoreRef[];
  /** The deadline of a read of the configured store. */
  readonly deadlineMs: number;
  /** Why the last connection to a store failed. */
  readonly lastFailure: (fingerprint: string) => string | undefined;
  /** YAML: the configuration after a cut-over from one of these stores to another. */
  readonly configuration: (to: StoreRef, from: StoreRef) => string;
}

/** The store of a domain, as operations use it. */
export interface OperatedStore extends Pick<OpenStore, 'content' | 'holds'> {
  readonly ref: StoreRef;
  /** Nothing else lives on its servers, nor on those of the candidates. */
  readonly dedicated: boolean;
  /** Absent: the domain declares no candidates. */
  readonly shadowed?: ShadowedStore;
}

interface DomainStoresOptions<Raw extends OpenStore> {
  readonly open: (domain: string, settings: StoreSettings, observe?: (event: StoreEvent) => void) => Raw | undefined;
  readonly observe: (domain: string, event: StoreEvent) => void;
  readonly clock: Clock;
}

/**
 * Opens the configured store of a domain; candidates are opened when a shadow or a placement needs them. `configured` is the store
 * of the configuration itself, which may keep the control document; `store` is the one that searches use. All are absent for a
 * domain without a store.
 */
export function openDomainStores<Raw extends OpenStore>(
  { name, store: settings, candidates }: DomainSettings,
  { open, observe, clock }: DomainStoresOptions<Raw>,
) {
  const configured = open(name, settings);
  if (configured === undefined || settings.kind === 'none') return {};
  const failures = new Map<string, string>();
  const known = new Map<string, { readonly name: string; readonly settings: ConnectedStoreSettings }>();
  const refOf = (storeName: string, own: ConnectedStoreSettings): StoreRef => {
    const ref = { name: storeName, fingerprint: fingerprintOf(own) };
    known.set(ref.fingerprint, { name: storeName, settings: own });
    return ref;
  };
  const ref = refOf(CONFIGURED, settings);
  const dedicated = [{ settings }, ...candidates].every((one) => one.settings.dedicated);
  const { content, holds } = configured;
  if (candidates.length === 0) return { configured, store: configured, operated: { content, holds, ref, dedicated } };
  const declared = candidates.map((candidate): DeclaredStore => {
    const own = refOf(candidate.name, candidate.settings);
    const isInUse = (): boolean =>
      [placed.active(), placed.other()].some((one) => one?.fingerprint === own.fingerprint);
    const report = (event: StoreEvent): void => {
      if (event.kind === 'connection' && event.state === 'failed' && !isConsequence(event.detail)) {
        failures.set(own.fingerprint, `${event.node}: ${event.detail ?? 'no connection'}`);
      }
      // The commands of copies are counted by the shadow: the metrics of the domain's store are about searches.
      if (isInUse()) observe(name, event);
    };
    return {
      ref: own,
      open: () => {
        const opened = open(name, candidate.settings, report);
        if (opened === undefined) throw new Error(`candidate ${candidate.name} of ${name} is no store`);
        return opened;
      },
    };
  });
  const placed: PlacedStore = createPlacedStore({
    configured: { ref, open: () => configured },
    candidates: declared,
    clock,
  });
  const shadowed: ShadowedStore = {
    placed,
    candidates: declared.map((one) => one.ref),
    deadlineMs: settings.deadlineMs,
    lastFailure: (fingerprint) => failures.get(fingerprint),
    configuration: (to, from) => {
      const [next, old] = [known.get(to.fingerprint), known.get(from.fingerprint)];
      return next === undefined || old === undefined ? '' : cutOverYaml({ domain: name, to: next, from: old });
    },
  };
  const operated = { content: placed.content, holds: placed.holds, ref, dedicated, shadowed };
  return { configured, store: placed, operated };
}

/** The words of ioredis for commands that a broken connection did not take: they do not say why it broke. */
function isConsequence(detail: string | undefined): boolean {
  return detail !== undefined && /isn't writeable|Connection is closed/.test(detail);
}

/** The store in use, by the control document, that this process does not know or has not reached; in words for an operator. */
export function missedStore(
  { shadow, placement }: ControlDocument,
  { ref, shadowed }: Pick<OperatedStore, 'ref' | 'shadowed'>,
  nowMs: number,
): string | undefined {
  const candidate = shadow !== undefined && nowMs < shadow.untilMs ? shadow.candidate : undefined;
  const used = [placement?.active, placement?.other, candidate].filter((one) => one !== undefined);
  const reaches = ({ fingerprint }: StoreRef): boolean =>
    shadowed === undefined ? fingerprint === ref.fingerprint : shadowed.placed.reaches(fingerprint);
  const missed = used.find((one) => !reaches(one));
  return missed === undefined ? undefined : `this process has no connection to ${missed.name}, which holds entries too`;
}
