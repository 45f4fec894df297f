import { testFinding } from './find.ts';

testFinding({ seeds: 2_000, areEvident: false });
