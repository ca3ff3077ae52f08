import { Type } from 'typebox';
import { OUTCOMES } from '../../search/outcome.ts';

const Share = (description: string) => Type.Optional(Type.Number({ description: `${description}, 0–1.` }));

/** What a domain did between two moments. */
export const FiguresBody = Type.Object({
  seconds: Type.Number(),
  processes: Type.Integer({ description: 'Heard at both moments.' }),
  searches: Type.Integer(),
  searchesPerSecond: Type.Number(),
  outcomes: Type.Object(Object.fromEntries(OUTCOMES.map((outcome) => [outcome, Type.Integer()]))),
  hitRatio: Share('Fresh from memory or the store'),
  errorRate: Share('Failed'),
  shedRate: Share('Shed'),
  p50Ms: Type.Optional(Type.Number()),
  p99Ms: Type.Optional(Type.Number()),
  engineCallsPerSecond: Type.Number(),
  engineCallMs: Type.Optional(Type.Number({ description: 'Mean duration of an engine call.' })),
  engineFailures: Type.Integer(),
  engineInFlight: Type.Integer(),
  engineQueued: Type.Integer(),
  engineMax: Type.Integer({ description: 'What all may ask at once now.' }),
  engineCeiling: Type.Integer(),
  breakersOpen: Type.Integer(),
  cohorts: Type.Array(Type.Object({ searches: Type.Integer(), hitRatio: Share('Of the cohort') })),
});
