import { testFinding } from './find.ts';

testFinding({ seeds: 100, areEvident: true });
