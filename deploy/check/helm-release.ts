import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { type CheckRun, hold } from './checker.ts';
import { helm, ROOT, run } from './tools.ts';

const HOME = join(ROOT, 'deploy', 'helm');
export const CHART = join(HOME, 'serpcache');
/** Releases by name, each with its value files. */
const VALUES: Readonly<Record<string, readonly string[]>> = {
  small: ['small'],
  production: ['production'],
  observed: ['production', 'observed'],
};
export const VALUE_FILES = Object.keys(VALUES);
/** The oldest that the chart accepts; a helm that Go builds would take 1.20. */
const KUBERNETES = ['--kube-version', '1.29.0'];
const LIMIT_MS = 60_000;

/** Manifests as far as the checks read them; `schemas manifests` has compared every field with its type. */
export interface Container {
  readonly env: readonly Variable[];
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string; readonly readOnly?: boolean }[];
  readonly securityContext: object;
  readonly resources: { readonly limits: { readonly memory: string } };
  readonly lifecycle: { readonly preStop: { readonly exec: { readonly command: readonly string[] } } };
  readonly startupProbe: Probe;
  readonly livenessProbe: Probe;
  readonly readinessProbe: Probe;
}

interface Variable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: {
    readonly secretKeyRef?: { readonly name: string; readonly key: string };
    readonly fieldRef?: { readonly fieldPath: string };
  };
}

interface Probe {
  readonly periodSeconds: number;
  readonly failureThreshold: number;
  readonly httpGet: { readonly path: string; readonly port: string; readonly scheme?: string };
}

export interface Rule {
  readonly ports?: readonly { readonly protocol: string; readonly port: string | number }[];
  readonly from?: readonly unknown[];
  readonly to?: readonly unknown[];
}

export interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> };
  readonly data?: Readonly<Record<string, string>>;
  readonly spec?: Readonly<Record<string, unknown>>;
}

/** The manifests that the chart renders with some value files. */
export interface Release {
  /** `production`, also in messages. */
  readonly name: string;
  readonly text: string;
  readonly manifests: readonly Manifest[];
  readonly container: Container;
  readonly graceSeconds: number;
  /** serpcache.yaml as the Pod reads it. */
  readonly configuration: string;
}

export interface ChartOptions extends Pick<CheckRun, 'signal'> {
  /** Further arguments of helm, such as `--set`. */
  readonly more?: readonly string[];
}

function valuesOf(name: string): readonly string[] {
  return (VALUES[name] ?? []).flatMap((file) => ['-f', join(HOME, 'values', `${file}.yaml`)]);
}

/** @throws with helm's own words. */
export async function lint(name: string, { signal, more = [] }: ChartOptions): Promise<void> {
  const args = ['lint', '--strict', CHART, ...valuesOf(name), ...KUBERNETES, ...more];
  await run(await helm(), args, { signal, limitMs: LIMIT_MS });
}

/** @throws with helm's own words, when values are refused. */
export async function template(name: string, { signal, more = [] }: ChartOptions): Promise<string> {
  const args = ['template', 'serpcache', CHART, '--namespace', 'search', ...valuesOf(name), ...KUBERNETES, ...more];
  return (await run(await helm(), args, { signal, limitMs: LIMIT_MS })).stdout;
}

export async function render(name: string, options: ChartOptions): Promise<Release> {
  const text = await template(name, options);
  const manifests = parseAllDocuments(text)
    .map((document) => document.toJS() as Manifest | null)
    .filter((manifest) => manifest !== null);
  const deployment = manifests.find(({ kind }) => kind === 'Deployment')?.spec?.['template'] as
    | {
        readonly spec: {
          readonly terminationGracePeriodSeconds: number;
          readonly containers: readonly [Container];
        };
      }
    | undefined;
  const configuration = manifests.find(({ data }) => data?.['serpcache.yaml'] !== undefined)?.data?.['serpcache.yaml'];
  hold(deployment !== undefined && configuration !== undefined, `${name}: there is no Deployment or no serpcache.yaml`);
  const { terminationGracePeriodSeconds: graceSeconds, containers } = deployment.spec;
  return { name, text, manifests, container: containers[0], graceSeconds, configuration };
}

/** Plausible values of secrets: the service refuses short and plain ones. */
const secretOf = ({ name, key }: { readonly name: string; readonly key: string }): string =>
  `${name}-${key}-0123456789abcdef-0123456789abcdef`;

/** The environment that a kubelet would give to the container, with invented values of the Secrets. */
export function environmentOf({ container }: Release): Readonly<Record<string, string>> {
  const environment: Record<string, string> = {};
  for (const { name, value = '', valueFrom } of container.env) {
    if (valueFrom?.secretKeyRef !== undefined) environment[name] = secretOf(valueFrom.secretKeyRef);
    else if (valueFrom?.fieldRef !== undefined) environment[name] = `the-${valueFrom.fieldRef.fieldPath}`;
    else
      environment[name] = value.replaceAll(/\$\(([A-Z_]+)\)/g, (whole, other: string) => environment[other] ?? whole);
  }
  return environment;
}

/** Writes serpcache.yaml where a process of this machine can read it. @returns its path. */
export function writeConfiguration({ name, configuration }: Release, folder: string): string {
  const path = join(folder, `${name}.yaml`);
  writeFileSync(path, configuration);
  return path;
}

/** A file of the project, parsed. */
export function parsed(...path: readonly string[]): unknown {
  return parse(readFileSync(join(ROOT, ...path), 'utf8'));
}
