export type { Experiment } from '../lab/experiment.ts';
