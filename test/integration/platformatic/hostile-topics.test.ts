process.env['KAFKA_DRIVER'] = 'platformatic';
await import('../hostile-topics.test.ts');
