import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../../../loadtest/stack/redis.ts';
import { startCluster } from '../../../loadtest/stack/redis.ts';
