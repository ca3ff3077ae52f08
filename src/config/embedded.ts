import { DEMO_DOMAINS } from '../catalogue/demo.ts';

/** What `domains` is without a file: the demo catalogue in embedded indexes, L1 only. Written as in a file. */
export function embeddedDomains(directory = 'data'): Readonly<Record<string, Readonly<Record<string, unknown>>>> {
  return Object.fromEntries(
    DEMO_DOMAINS.map(({ name, attributes, context }) => [
      name,
      {
        store: { kind: 'none' },
        engine: { kind: 'sqlite', directory, demo: true },
        attributes: Object.fromEntries(attributes.map(({ name: attribute, ...rest }) => [attribute, rest])),
        context: Object.fromEntries(context.map(({ name: parameter, ...rest }) => [parameter, rest])),
      },
    ]),
  );
}
