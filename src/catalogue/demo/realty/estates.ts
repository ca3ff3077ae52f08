import { COMMERCIAL } from './commercial.ts';
import type { Estate } from './estate.ts';
import { FLATS } from './flats.ts';
import { GARAGES } from './garages.ts';
import { HOUSES } from './houses.ts';
import { PLOTS } from './plots.ts';
import { ROOMS } from './rooms.ts';

export const ESTATES: readonly Estate[] = [FLATS, HOUSES, ROOMS, GARAGES, PLOTS, COMMERCIAL];
