"""Bindings of followed clusters: those that are undecided, and for each the time, the profile, the cause and the plugin."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("scheduling", "0014_scheduler_metrics")]

    operations = [
        migrations.AddField("agreement", "undecided", models.BigIntegerField(db_default=0, default=0)),
        migrations.AddField("observer", "version", models.CharField(blank=True, db_default="", default="", max_length=64)),
        migrations.AddField("shadowedpod", "judged_at", models.DateTimeField(blank=True, null=True)),
        migrations.AddField("shadowedpod", "profile", models.CharField(blank=True, db_default="", default="", max_length=253)),
        migrations.AddField("shadowedpod", "cause", models.CharField(blank=True, db_default="", default="", max_length=16)),
        migrations.AddField("shadowedpod", "place", models.CharField(blank=True, db_default="", default="", max_length=16)),
        migrations.AddField("shadowedpod", "plugin", models.CharField(blank=True, db_default="", default="", max_length=253)),
    ]
