process.env['KAFKA_DRIVER'] = 'platformatic';
await import('../bad-batch.test.ts');
