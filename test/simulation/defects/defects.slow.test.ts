import { testFinding } from './find.ts';

testFinding({ seeds: 8_000, areEvident: false });
