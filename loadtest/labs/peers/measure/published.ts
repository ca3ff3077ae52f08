/** What others published about the same things: of each peer by its name, for the row it stands beside. */
interface Published {
  readonly page?: string;
  readonly dead?: string;
}

const OF: readonly (Published & { readonly name: RegExp })[] = [
  {
    name: /^Varnish/,
    page: '23k/s per core (275k/s on 12 cores, 2010)',
    dead: 'origin dead for 12 min behind grace: 97 % hits, no 503',
  },
  { name: /BentoCache/, page: 'its own bench, in the process and without HTTP: get 1.25M/s, getOrSet 42k/s' },
];

/** Requests per second and core, where somebody published just that. */
export const PUBLISHED_PER_CORE: readonly { readonly name: RegExp; readonly perSecond: number }[] = [
  { name: /^Varnish/, perSecond: 23_000 },
];

export function publishedOf(name: string): Published {
  return OF.find((one) => one.name.test(name)) ?? {};
}

export const PUBLISHED_WORDS =
  'Little, and nothing under the same conditions. Varnish: a practitioner of 2010 had 275k requests/s on 12 cores, about ' +
  '23k/s per core; a monitoring guide reports an origin dead for 12 minutes behind grace, 97 % hits and no 503. BentoCache: ' +
  'its own bench calls it in the process, without HTTP: 854 ns for a get of two tiers (1.25M/s), 23.8 µs for a getOrSet ' +
  '(42k/s). A content delivery network: of 1,000 simultaneous requests for an expired object one goes to the origin. ' +
  'These cannot be measured here as they were; they stand beside the rows they are about.';
