process.env['KAFKA_DRIVER'] = 'platformatic';
await import('../faults.test.ts');
