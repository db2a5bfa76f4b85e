
import django.db.models.deletion
import django.db.models.functions.datetime
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('scheduling', '0015_bindings_in_flight'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Experiment',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=200)),
                ('plan', models.TextField()),
                ('status', models.CharField(choices=[('checking', 'Checking'), ('running', 'Running'), ('paused', 'Paused'), ('cancelled', 'Cancelled'), ('finished', 'Finished'), ('refused', 'Refused')], default='checking', max_length=16)),
                ('faults', models.JSONField(default=list)),
                ('measures', models.JSONField(default=list)),
                ('nodes', models.BigIntegerField(default=0)),
                ('pods', models.BigIntegerField(default=0)),
                ('trials', models.PositiveIntegerField(default=0)),
                ('engine_version', models.CharField(blank=True, default='', max_length=64)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('started_at', models.DateTimeField(blank=True, null=True)),
                ('ended_at', models.DateTimeField(blank=True, null=True)),
                ('epoch', models.BigIntegerField(default=0)),
                ('lease_owner', models.CharField(blank=True, default='', max_length=200)),
                ('lease_until', models.FloatField(default=0.0)),
                ('tries', models.PositiveIntegerField(default=0)),
                ('owner', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='experiments', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='ExperimentBase',
            fields=[
                ('experiment', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='base', serialize=False, to='scheduling.experiment')),
                ('data', models.BinaryField()),
            ],
        ),
        migrations.CreateModel(
            name='ExperimentTrial',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField()),
                ('variant', models.CharField(max_length=1000)),
                ('seed', models.BigIntegerField(blank=True, null=True)),
                ('status', models.CharField(choices=[('waiting', 'Waiting'), ('running', 'Running'), ('done', 'Done')], default='waiting', max_length=16)),
                ('epoch', models.BigIntegerField(default=0)),
                ('lease_owner', models.CharField(blank=True, default='', max_length=200)),
                ('lease_until', models.FloatField(default=0.0)),
                ('tries', models.PositiveIntegerField(default=0)),
                ('result', models.BinaryField(blank=True, null=True)),
                ('volatile', models.JSONField(default=dict)),
                ('error', models.TextField(blank=True, default='')),
                ('seconds', models.FloatField(default=0.0)),
                ('ended_at', models.DateTimeField(blank=True, null=True)),
                ('experiment', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='trial_rows', to='scheduling.experiment')),
            ],
        ),
        migrations.AddIndex(
            model_name='experiment',
            index=models.Index(fields=['owner', '-created_at'], name='experiment_of_owner'),
        ),
        migrations.AddIndex(
            model_name='experiment',
            index=models.Index(fields=['status'], name='experiment_status'),
        ),
        migrations.AddIndex(
            model_name='experimenttrial',
            index=models.Index(fields=['experiment', 'status'], name='trial_of_status'),
        ),
        migrations.AddConstraint(
            model_name='experimenttrial',
            constraint=models.UniqueConstraint(fields=('experiment', 'number'), name='trial_once'),
        ),
    ]
