import { chownSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { hold } from './checker.ts';
import type { ContainerOptions, Image, Volume, Wire } from './container.ts';
import { ROOT } from './tools.ts';

const HOME = join(ROOT, 'deploy', 'compose');
export const COMPOSE_FILE = join(HOME, 'compose.yaml');

/** Values of the variables that the file demands. */
export const SECRETS: Readonly<Record<string, string>> = {
  ADMIN_TOKEN: 'only-for-this-check-2187',
  STORE_PASSWORD: 'only-for-this-check',
  GRAFANA_PASSWORD: 'only-for-this-check',
};

type Networks = Readonly<Record<string, { readonly ipv4_address?: string } | null>>;

export interface Service {
  readonly name: string;
  readonly image: string;
  readonly command?: readonly string[];
  readonly user?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes?: readonly string[];
  readonly tmpfs?: readonly string[];
  readonly networks?: readonly string[] | Networks;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly restart?: string;
}

interface Stack {
  readonly services: readonly Service[];
  /** Networks with a subnet; the others only lead out, which no container needs. */
  readonly subnets: Readonly<Record<string, string>>;
}

export function readStack(): Stack {
  const text = readFileSync(COMPOSE_FILE, 'utf8').replaceAll(/\$\{([A-Z_]+)(?::([?-])([^}]*))?\}/g, valueFor);
  const file = parse(text.replaceAll('$$', '$'), { merge: true }) as {
    readonly services: Readonly<Record<string, Omit<Service, 'name'>>>;
    readonly networks: Readonly<
      Record<string, { readonly ipam?: { readonly config: readonly [{ readonly subnet: string }] } } | null>
    >;
  };
  return {
    services: Object.entries(file.services).map(([name, service]) => ({ name, ...service })),
    subnets: Object.fromEntries(
      Object.entries(file.networks).flatMap(([name, network]) =>
        network?.ipam === undefined ? [] : [[name, network.ipam.config[0].subnet]],
      ),
    ),
  };
}

function valueFor(_: string, name: string, kind: string | undefined, otherwise: string | undefined): string {
  const value = SECRETS[name] ?? (kind === '-' ? otherwise : undefined);
  hold(value !== undefined, `compose.yaml: no value for ${name}`);
  return value;
}

/** An image whose programs are those that this machine has installed, for servers whose images cannot be pulled. */
export function machineImage(folder: string): Image {
  const root = join(folder, 'machine');
  for (const name of ['usr', 'etc', 'dev', 'proc', 'tmp', 'run']) mkdirSync(join(root, name), { recursive: true });
  for (const name of ['bin', 'sbin', 'lib', 'lib64']) symlinkSync(`usr/${name}`, join(root, name));
  return { root, config: { User: '65534:65534', Env: ['PATH=/usr/bin:/usr/sbin'], WorkingDir: '/', Cmd: [] } };
}

interface MountOptions {
  /** Holds the volumes. */
  readonly folder: string;
  readonly uid: number;
}

/** The mounts of a service as Compose makes them: files beside compose.yaml, named volumes, and volumes of its own. */
export function mountsOf({ name, volumes = [] }: Service, { folder, uid }: MountOptions): readonly Volume[] {
  return volumes.map((text) => {
    const [source = '', target = source, mode] = text.split(':');
    const readOnly = mode === 'ro';
    if (source.startsWith('.')) return { source: join(HOME, source), target, readOnly };
    const own = join(folder, `volume-${source.startsWith('/') ? `${name}${source.replaceAll('/', '-')}` : source}`);
    mkdirSync(own, { recursive: true });
    chownSync(own, uid, uid);
    return { source: own, target, readOnly };
  });
}

/** Makes a service's container options: its own image where the file builds it, else the machine's programs. */
export function createLayout(
  { services, subnets }: Stack,
  {
    folder,
    wire,
    images,
  }: { readonly folder: string; readonly wire: Wire; readonly images: Readonly<Record<string, Image>> },
) {
  const machine = machineImage(folder);
  const usr = { source: '/usr', target: '/usr', readOnly: true };
  const addressesOf = (service: Service): Readonly<Record<string, string>> => {
    const { networks = [] } = service;
    const named: Networks = Array.isArray(networks)
      ? Object.fromEntries(networks.map((network) => [network, null]))
      : (networks as Networks);
    // Beyond the fixed ones.
    const last = 100 + services.indexOf(service);
    return Object.fromEntries(
      Object.entries(named).flatMap(([network, settings]) => {
        const subnet = subnets[network]?.replace(/\d+\/\d+$/, '');
        return subnet === undefined ? [] : [[network, settings?.ipv4_address ?? `${subnet}${last}`]];
      }),
    );
  };
  /** The names that Docker's name server answers: services of the same networks. */
  const hostsOf = (service: Service): string => {
    const own = Object.keys(addressesOf(service));
    const lines = services.flatMap((other) =>
      Object.entries(addressesOf(other)).flatMap(([network, address]) =>
        own.includes(network) ? [`${address} ${other.name}`] : [],
      ),
    );
    return ['127.0.0.1 localhost', ...lines, ''].join('\n');
  };
  return (service: Service): ContainerOptions => {
    const { name, command, environment = {}, tmpfs = [] } = service;
    const built = images[service.image];
    const image = built ?? machine;
    const user = service.user ?? image.config.User;
    const hosts = join(folder, `${name}.hosts`);
    writeFileSync(hosts, hostsOf(service));
    const addresses = Object.values(addressesOf(service)).map((address) => `${address}/24`);
    const volumes = mountsOf(service, { folder, uid: Number(user.split(':')[0]) });
    // The images of the stores start in their volume.
    const ownFolder = volumes.find(({ target }) => target === '/data')?.target;
    return {
      name,
      folder,
      user,
      env: environment,
      tmpfs: tmpfs.filter((each) => each !== '/tmp'),
      image: ownFolder === undefined ? image : { ...image, config: { ...image.config, WorkingDir: ownFolder } },
      network: addresses.length === 0 ? { kind: 'none' } : { kind: 'wire', wire, addresses },
      volumes: [
        ...(built === undefined ? [usr] : []),
        { source: hosts, target: '/etc/hosts', readOnly: true },
        ...volumes,
      ],
      command:
        command === undefined ? undefined : built === undefined ? [...entry(service.image), ...command] : command,
    };
  };
}

/** The entry point of images whose command is only options. */
function entry(image: string): readonly string[] {
  return image.startsWith('prom/') ? ['prometheus'] : [];
}
