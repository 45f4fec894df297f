process.env['KAFKA_DRIVER'] = 'platformatic';
await import('../ingest.test.ts');
