import { defineGraph } from 'sluice';

export default defineGraph({ backends: { texts: { url: process.env['SUBGRAPH_URL'] } } });
