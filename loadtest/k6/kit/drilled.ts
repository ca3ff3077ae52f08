import { checkDrillable, type Drilling, operateDrills } from './drill.ts';
import { endDrills } from './drill-aftermath.ts';
import { SITE_MIX } from './mixes.ts';
import type { ScriptPlan } from './script.ts';

/** What all scripts have in common that lose the cache by a drill. */
export function drilled(
  drilling: Drilling,
): Pick<ScriptPlan, 'name' | 'mix' | 'isWarmed' | 'slowSeconds' | 'prepare' | 'operator' | 'teardown'> {
  return {
    name: drilling.script,
    mix: SITE_MIX,
    isWarmed: true,
    // The patience, and a little.
    slowSeconds: 2.2,
    prepare: (scene) => checkDrillable(scene, drilling),
    operator: (scene) => operateDrills(scene, drilling),
    teardown: endDrills,
  };
}
