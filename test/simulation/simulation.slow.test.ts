import { testSeeds } from './seeds.ts';

testSeeds(601, 1_000);
