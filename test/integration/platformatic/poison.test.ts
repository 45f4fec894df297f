process.env['KAFKA_DRIVER'] = 'platformatic';
await import('../poison.test.ts');
