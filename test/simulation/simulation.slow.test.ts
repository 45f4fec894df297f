import { testSeeds } from './seeds.ts';

testSeeds(1_001, 2_000);
