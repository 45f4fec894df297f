process.env['KAFKA_DRIVER'] = 'platformatic';
await import('../kafka.test.ts');
